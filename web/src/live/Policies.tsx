// The active policy and the other built-in policies.
import { AreaHead } from './Parts';
import { useLive } from './useStore';

export function Policies() {
  const { facts } = useLive();
  const active = facts.policies.find(({ name }) => name === facts.policy);
  const others = facts.policies.filter(({ name }) => name !== facts.policy);
  return (
    <>
      <AreaHead title="Policies" />
      <section class="panel active-policy" aria-label="Active policy">
        <h3>{facts.policy} <span class="state" data-state="running">active</span></h3>
        <p>{active?.description ?? 'Composed of policy parts; goban policies describes each part.'}</p>
      </section>
      <p class="how">
        Other built-in policies. The policy is set when the daemon starts: --policy NAME, or
        &quot;policy&quot; in its configuration.
      </p>
      <ul class="policy-list">
        {others.map(({ name, description }) => (
          <li key={name} class="panel">
            <h3>{name}</h3>
            <p>{description}</p>
          </li>
        ))}
      </ul>
    </>
  );
}
