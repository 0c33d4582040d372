"""Packages for other systems than Debian 12, from the same build: a program with its libraries in it (portable_link.py), as
tarball, wheel and .rpm, and an OCI image with the .deb in a Debian made by mmdebstrap. tools/release.py calls it.
"""

import base64
import hashlib
import gzip
import io
import json
import os
import pathlib
import shutil
import subprocess
import tarfile
import tempfile
import time
import zipfile

import portable_libraries
import portable_link

# On PyPI "goban" is another project.
DISTRIBUTION = "goban-cluster"
GLIBC = ".".join(map(str, portable_link.GLIBC))


def owner_of(path):
    """Debian's package of a file."""
    for name in (path, path.resolve(), pathlib.Path("/usr") / path.relative_to("/")):
        done = subprocess.run(["dpkg", "-S", str(name)], text=True, capture_output=True, check=False)
        if done.returncode == 0:
            return done.stdout.split(":")[0]
    raise SystemExit(f"release: no package owns {path}, so its licence is unknown")


def link(build, out):
    """Writes the portable program of a build to `out`. Returns the licences of the libraries in it, by name."""
    archives, built = portable_libraries.prepare(portable_libraries.default_folder())
    with tempfile.TemporaryDirectory() as folder:
        used = portable_link.link(build, "bin/goban", archives, out, pathlib.Path(folder))
    used.append(portable_link.system_library("libstdc++.a").resolve())
    licences = {}
    for path in used:
        licence = built.get(path)
        name = path.stem if licence else owner_of(path)
        licences[name] = (licence or pathlib.Path(f"/usr/share/doc/{name}/copyright")).read_bytes()
    return licences


def files_of(prefix):
    return sorted(path for path in prefix.rglob("*") if path.is_file())


def make_tarball(prefix, out, version, machine, seconds):
    """goban-VERSION-linux-MACHINE.tar.xz with one folder that runs where it is unpacked."""
    target = out / f"goban-{version}-linux-{machine}.tar.xz"
    with tarfile.open(target, "w:xz") as archive:
        for path in files_of(prefix):
            entry = tarfile.TarInfo(f"goban-{version}/{path.relative_to(prefix)}")
            entry.size, entry.mtime = path.stat().st_size, seconds
            entry.mode = 0o755 if os.access(path, os.X_OK) else 0o644
            with path.open("rb") as file:
                archive.addfile(entry, file)
    return target


def make_wheel(prefix, out, version, machine, summary, seconds):
    """The program as a script, everything else below the prefix of the Python environment."""
    name = DISTRIBUTION.replace("-", "_")
    tag = f"py3-none-manylinux_{GLIBC.replace('.', '_')}_{machine}"
    target = out / f"{name}-{version}-{tag}.whl"
    date = time.gmtime(max(seconds, 315532800))[:6]  # ZIP begins in 1980
    records = []
    with zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as wheel:
        def add(path, data, mode=0o644):
            entry = zipfile.ZipInfo(path, date)
            entry.external_attr = (0o100000 | mode) << 16
            entry.compress_type = zipfile.ZIP_DEFLATED
            wheel.writestr(entry, data)
            digest = base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()
            records.append(f"{path},sha256={digest},{len(data)}")

        for path in files_of(prefix):
            inside = path.relative_to(prefix)
            place = f"scripts/{inside.name}" if inside.parts[0] == "bin" else f"data/{inside}"
            add(f"{name}-{version}.data/{place}", path.read_bytes(), 0o755 if os.access(path, os.X_OK) else 0o644)
        info = f"{name}-{version}.dist-info"
        add(f"{info}/METADATA", f"Metadata-Version: 2.1\nName: {DISTRIBUTION}\nVersion: {version}\nSummary: {summary}\n"
            "License: Apache-2.0\nRequires-Python: >=3.8\nDescription-Content-Type: text/plain\n\n"
            "The program goban. Licences of the libraries in it: share/doc/goban/libraries.\n".encode())
        add(f"{info}/WHEEL", f"Wheel-Version: 1.0\nGenerator: goban release\nRoot-Is-Purelib: false\nTag: {tag}\n".encode())
        add(f"{info}/RECORD", "".join(f"{line}\n" for line in [*records, f"{info}/RECORD,,"]).encode())
    return target


def make_rpm(prefix, out, version, summary, text, seconds):
    """For distributions with systemd and this glibc."""
    with tempfile.TemporaryDirectory() as name:
        top = pathlib.Path(name)
        files = "".join(f"/usr/{path.relative_to(prefix)}\n" for path in files_of(prefix)) + "%config(noreplace) /etc/goban.toml\n"
        own = (path.relative_to(prefix) for path in sorted(prefix.rglob("*")) if path.is_dir())
        files += "".join(f"%dir /usr/{path}\n" for path in own if "goban" in path.parts)  # removed with the package
        spec = top / "goban.spec"
        spec.write_text(f"""%global debug_package %{{nil}}
%global __os_install_post %{{nil}}
%global _build_id_links none
Name: goban
Version: {version}
Release: 1
Summary: {summary}
License: Apache-2.0
AutoReqProv: no
Requires: glibc >= {GLIBC}
%description
{text}
%install
mkdir -p %{{buildroot}}/usr %{{buildroot}}/etc && cp -a {prefix}/. %{{buildroot}}/usr/
cp {prefix}/share/doc/goban/goban.toml %{{buildroot}}/etc/
%preun
if [ "$1" = 0 ] && [ -d /run/systemd/system ]; then systemctl --no-reload disable --now goban.service >/dev/null 2>&1 || :; fi
%postun
if [ -d /run/systemd/system ]; then systemctl daemon-reload || :; [ "$1" = 0 ] || systemctl try-restart goban.service || :; fi
%files
{files}""")
        subprocess.run(["rpmbuild", "--quiet", "-bb", "--define", f"_topdir {top}", "--define", "_buildhost localhost",
                        "--define", "use_source_date_epoch_as_buildtime 1", "--define", "clamp_mtime_to_source_date_epoch 1", spec],
                       check=True, env=dict(os.environ, SOURCE_DATE_EPOCH=str(seconds)))
        made = next(top.glob("RPMS/*/*.rpm"))
        return pathlib.Path(shutil.move(made, out / made.name))


def blob(layout, data, kind):
    """Writes content under its digest, and returns its descriptor."""
    digest = hashlib.sha256(data).hexdigest()
    (layout / "blobs/sha256").mkdir(parents=True, exist_ok=True)
    (layout / "blobs/sha256" / digest).write_bytes(data)
    return {"mediaType": f"application/vnd.oci.image.{kind}", "digest": f"sha256:{digest}", "size": len(data)}


def make_image(deb, out, version, architecture, seconds, suite="bookworm"):
    """goban-VERSION-oci.tar: an OCI image of a Debian with the package, in one layer."""
    environment = dict(os.environ, SOURCE_DATE_EPOCH=str(seconds))
    mirror = os.environ.get("GOBAN_MIRROR")
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        root = folder / "root.tar"
        install = f'DEBIAN_FRONTEND=noninteractive chroot "$1" apt-get -q install -y --no-install-recommends /tmp/{deb.name}'
        done = subprocess.run(["mmdebstrap", "--quiet", "--variant=apt", "--include=ca-certificates,tzdata",
                        f"--customize-hook=copy-in {deb} /tmp", f"--customize-hook={install}",
                        f'--customize-hook=rm "$1"/tmp/{deb.name} "$1"/var/log/*.log "$1"/var/log/apt/*', suite, root,
                        *([mirror] if mirror else [])], check=False, env=environment, text=True,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        if done.returncode != 0:
            raise SystemExit("\n".join(["release: the image cannot be made", *done.stdout.splitlines()[-15:]]))
        plain = root.read_bytes()
        layout = folder / "layout"
        layer = blob(layout, gzip.compress(plain, 6, mtime=0), "layer.v1.tar+gzip")
        created = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(seconds))
        labels = {"org.opencontainers.image.title": "goban", "org.opencontainers.image.version": version,
                  "org.opencontainers.image.licenses": "Apache-2.0"}
        config = blob(layout, json.dumps({
            "created": created, "architecture": architecture, "os": "linux",
            "config": {"Entrypoint": ["/usr/bin/goban"], "Cmd": ["help"], "Labels": labels,
                       "Env": ["PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin", "LANG=C.UTF-8"]},
            "rootfs": {"type": "layers", "diff_ids": [f"sha256:{hashlib.sha256(plain).hexdigest()}"]},
            "history": [{"created": created, "created_by": f"mmdebstrap {suite}, {deb.name}"}]}).encode(), "config.v1+json")
        manifest = blob(layout, json.dumps({"schemaVersion": 2, "mediaType": "application/vnd.oci.image.manifest.v1+json",
                                            "config": config, "layers": [layer]}).encode(), "manifest.v1+json")
        manifest["annotations"] = {"org.opencontainers.image.ref.name": version}
        (layout / "oci-layout").write_text(json.dumps({"imageLayoutVersion": "1.0.0"}))
        (layout / "index.json").write_text(json.dumps({"schemaVersion": 2, "manifests": [manifest]}))
        target = out / f"goban-{version}-oci.tar"
        with tarfile.open(target, "w") as archive:
            for path in sorted(layout.rglob("*")):
                entry = tarfile.TarInfo(str(path.relative_to(layout)))
                data = b"" if path.is_dir() else path.read_bytes()
                entry.type = tarfile.DIRTYPE if path.is_dir() else tarfile.REGTYPE
                entry.size, entry.mtime, entry.mode = len(data), seconds, 0o755 if path.is_dir() else 0o644
                archive.addfile(entry, io.BytesIO(data))
    return target
