"""The checks of record.py, on made-up records: what they are to find is in them."""

import base64
import json
import unittest

from record import Bindings, Bound, decided_at_once, given_twice, id_of_token


def pod(uid, version, node=None, gpus="0", mark="goban:1.5.1", phase="Running"):
    notes = {"goban.dev/gpus": gpus, "goban.dev/run": mark} if node else {}
    return {"metadata": {"uid": uid, "name": f"pod-{uid}", "namespace": "default", "resourceVersion": str(version), "annotations": notes},
            "spec": {"nodeName": node} if node else {}, "status": {"phase": phase}}


def audited(name, who, code=201, verb="create", subresource="binding"):
    return json.dumps({"verb": verb, "objectRef": {"resource": "pods", "namespace": "default", "name": name, "subresource": subresource},
                       "responseStatus": {"code": code}, "user": {"extra": {"authentication.kubernetes.io/credential-id": [who]}}})


class GivenTwice(unittest.TestCase):
    def test_one_after_the_other(self):
        self.assertEqual(given_twice([Bound("a", "n1", (0, 1), 1, at=5, end=9), Bound("b", "n1", (1,), 2, at=9),
                                      Bound("c", "n1", (0,), 2, at=12, end=13), Bound("d", "n2", (1,), 2, at=7)]), [])

    def test_two_at_the_same_time(self):
        wrong = given_twice([Bound("b", "n1", (1, 2), 2, at=8, end=20), Bound("a", "n1", (0, 1), 1, at=5, end=9)])
        self.assertEqual(len(wrong), 1)
        self.assertTrue(wrong[0].startswith("GPU 1 of n1: a (epoch 1)"), wrong)

    def test_one_that_still_runs(self):
        self.assertEqual(len(given_twice([Bound("a", "n1", (3,), 1, at=5), Bound("b", "n1", (3,), 1, at=900)])), 1)

    def test_one_that_outlives_the_next(self):
        wrong = given_twice([Bound("a", "n1", (0,), 1, at=5, end=50), Bound("b", "n1", (0,), 1, at=6, end=7), Bound("c", "n1", (0,), 1, at=20)])
        self.assertEqual(len(wrong), 2)
        self.assertIn("a (epoch 1) at 5 to 50 and c", wrong[1])


class DecidedAtOnce(unittest.TestCase):
    def test_one_leader_after_the_other(self):
        self.assertEqual(decided_at_once([Bound("a", "n1", (0,), 1, at=5, daemon="one"), Bound("b", "n1", (1,), 1, at=6, daemon="one"),
                                          Bound("c", "n2", (0,), 2, at=7, daemon="two"), Bound("d", "n2", (1,), 4, at=8, daemon="one")]), [])

    def test_both_in_turns_on_different_gpus(self):
        bounds = [Bound("a", "n1", (0,), 1, at=5), Bound("b", "n1", (1,), 2, at=6), Bound("c", "n2", (0,), 1, at=7), Bound("d", "n2", (1,), 2, at=8)]
        self.assertEqual(given_twice(bounds), [])
        self.assertEqual(decided_at_once(bounds), ["c (epoch 1) at 7 to now after b (epoch 2) at 6 to now"])

    def test_two_leases_that_count_alike(self):
        bounds = [Bound("a", "n1", (0,), 1, at=5, daemon="one"), Bound("b", "n1", (1,), 1, at=6, daemon="two")]
        self.assertEqual(len(decided_at_once(bounds)), 1)
        for bound in bounds:
            bound.daemon = ""
        self.assertEqual(decided_at_once(bounds), [])  # nobody knows who wrote it

    def test_the_order_is_that_of_the_server(self):
        bounds = [Bound("b", "n1", (1,), 2, at=6), Bound("a", "n1", (0,), 1, at=5)]
        self.assertEqual(decided_at_once(bounds), [])


class FromAWatch(unittest.TestCase):
    def taken(self, *events):
        bindings = Bindings()
        for kind, each in events:
            bindings.take(kind, each)
        return bindings

    def test_a_pod_from_its_binding_to_its_end(self):
        bindings = self.taken(("ADDED", pod("a", 3)), ("MODIFIED", pod("a", 4, "n1", "0,2", "goban:7.5.1", "Pending")),
                              ("MODIFIED", pod("a", 6, "n1", "0,2", "goban:9.5.1")),  # adopted: the mark is another one's, the binding is not
                              ("MODIFIED", pod("a", 8, "n1", "0,2", "goban:9.5.1", "Succeeded")), ("DELETED", pod("a", 9, "n1", "0,2")))
        self.assertEqual(list(bindings.by_uid.values()), [Bound("pod-a", "n1", (0, 2), 7, at=4, end=8)])

    def test_pods_that_goban_did_not_bind(self):
        other = pod("a", 3, "n1", mark="")
        self.assertEqual(self.taken(("ADDED", other), ("ADDED", pod("b", 4)), ("DELETED", pod("c", 5, "n1"))).by_uid, {})

    def test_a_gap(self):
        bindings = self.taken(("ADDED", pod("a", 3, "n1")), ("ADDED", pod("b", 4, "n1", "1")))
        bindings.take_list([pod("b", 4, "n1", "1"), pod("c", 9, "n2", "3", "goban:2.6.1")], 20)
        found = bindings.by_uid
        self.assertEqual((found["a"].end, found["b"].end, found["c"].at, found["c"].end), (20, None, 9, None))

    def test_two_daemons_are_found_through_watch_and_audit_log(self):
        bindings = self.taken(("ADDED", pod("a", 3, "n1", "0")), ("ADDED", pod("b", 4, "n1", "1")))
        bindings.name_daemons([audited("pod-a", "JTI=x"), audited("pod-b", "JTI=y"), audited("pod-b", "JTI=x", code=409), "{\"verb\": \"crea",
                               audited("pod-a", "JTI=y", subresource="eviction"), "[]"], {"JTI=x": "one", "JTI=y": "two"})
        self.assertEqual([bound.daemon for bound in bindings.by_uid.values()], ["one", "two"])
        self.assertEqual(len(decided_at_once(bindings.by_uid.values())), 1)

    def test_the_id_of_a_token(self):
        payload = base64.urlsafe_b64encode(json.dumps({"jti": "5f-1"}).encode()).decode().rstrip("=")
        self.assertEqual(id_of_token(f"head.{payload}.signature"), "JTI=5f-1")


if __name__ == "__main__":
    unittest.main()
