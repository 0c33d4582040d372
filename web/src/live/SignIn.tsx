// The sign-in form: over TCP a token authenticates the user. It stays in this tab. The link that
// `goban token` prints can be pasted, too.
import { useState } from 'preact/hooks';
import { useLive } from './useStore';
import { tokenOf } from './api';
import { AreaHead } from './Parts';

export function SignIn({ why }: { why: string }) {
  const { store } = useLive();
  const [token, setToken] = useState('');
  const submit = (event: SubmitEvent) => {
    event.preventDefault();
    store.api.setToken(tokenOf(token));
    setToken('');
    store.reconnect();
  };
  return (
    <>
      <AreaHead title="Sign in" />
      <form class="panel sign-in" onSubmit={submit}>
        <p>The daemon refused the request: {why}.</p>
        <p>
          On the machine of the daemon, as the user who runs it, <code>goban token</code> prints a link that opens this page
          signed in. Open it, or paste it here.
        </p>
        <label>
          Token or link
          <input type="password" autocomplete="current-password" required value={token}
            onInput={(event) => setToken(event.currentTarget.value)} />
        </label>
        <p class="hint">
          Other users ask an operator for a token. It is kept until this tab is closed and is sent to this daemon only.
        </p>
        <button type="submit">Sign in</button>
      </form>
    </>
  );
}
