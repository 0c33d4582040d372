// A column header that sorts its table.

export type SortState = 'none' | 'ascending' | 'descending';

/** Sort state of the column `key`. */
export function sortState<K>(order: { key: K; descending: boolean }, key: K): SortState {
  return order.key !== key ? 'none' : order.descending ? 'descending' : 'ascending';
}

const MARKS: Record<SortState, string> = { none: '↕', ascending: '▲', descending: '▼' };

interface SortHeadProps {
  text: string;
  class: string;
  state: SortState;
  onSort: () => void;
  title?: string;
}

export function SortHead({ text, class: name, state, onSort, title }: SortHeadProps) {
  return (
    <th scope="col" class={name} aria-sort={state}>
      <button type="button" onClick={onSort} title={title}>
        {text}
        <span class="sort-mark" aria-hidden="true">{MARKS[state]}</span>
      </button>
    </th>
  );
}
