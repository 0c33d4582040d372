// The sign-in form: over TCP a token authenticates the user. It stays in this tab.
import { useState } from 'preact/hooks';
import { useLive } from './useStore';
import { AreaHead } from './Parts';

export function SignIn({ why }: { why: string }) {
  const { store } = useLive();
  const [token, setToken] = useState('');
  const submit = (event: SubmitEvent) => {
    event.preventDefault();
    store.api.setToken(token.trim());
    setToken('');
    store.reconnect();
  };
  return (
    <>
      <AreaHead title="Sign in" />
      <form class="panel sign-in" onSubmit={submit}>
        <p>The daemon refused the request: {why}.</p>
        <label>
          Token
          <input type="password" autocomplete="current-password" required value={token}
            onInput={(event) => setToken(event.currentTarget.value)} />
        </label>
        <p class="hint">
          Ask an operator for a token. It is kept until this tab is closed and is sent to this daemon only.
        </p>
        <button type="submit">Sign in</button>
      </form>
    </>
  );
}
