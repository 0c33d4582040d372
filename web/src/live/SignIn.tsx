// Over TCP a token says who asks. It stays in this tab and goes to this daemon only.
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
      <AreaHead title="Who are you?" />
      <form class="panel sign-in" onSubmit={submit}>
        <p>The daemon says: {why}.</p>
        <label>
          Token
          <input type="password" autocomplete="current-password" required value={token}
            onInput={(event) => setToken(event.currentTarget.value)} />
        </label>
        <p class="hint">
          An operator gives it to you. It is kept until this tab is closed, and sent to this daemon only.
        </p>
        <button type="submit">Sign in</button>
      </form>
    </>
  );
}
