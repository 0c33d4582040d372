// A sortable table with CSV export.
import { useMemo, useState } from 'preact/hooks';
import { cellText, withUnit } from '../charts/figure/numbers';
import { type Cell, sortedRows, type Table, tableCsv } from '../data/analysis';
import { count } from '../format';
import { SortHead, sortState } from '../SortHead';
import { Head } from './Parts';
import { save } from './save';
import { useWords } from './words';

const SHORT = 12;

interface Order {
  /** Index of the column. */
  key: number;
  descending: boolean;
}

function isNumeric(table: Table, column: number): boolean {
  return table.rows.some((row) => typeof row[column] === 'number') &&
    table.rows.every((row) => typeof row[column] !== 'string' || row[column] === '');
}

function Heads({ table, numeric, order, setOrder }: {
  table: Table; numeric: boolean[]; order: Order | null; setOrder: (order: Order) => void;
}) {
  const words = useWords();
  const next = (key: number) =>
    // Numbers sort in descending order first.
    setOrder({ key, descending: order?.key === key ? !order.descending : numeric[key]! });
  return (
    <thead>
      <tr>
        {table.columns.map((column, i) => (
          <SortHead key={column.key} text={withUnit(column.label, column.unit)} class={numeric[i] ? 'number' : ''}
            state={order ? sortState(order, i) : 'none'} onSort={() => next(i)} title={words.sortBy(column.label)} />
        ))}
      </tr>
    </thead>
  );
}

export function Rows({ table }: { table: Table }) {
  const words = useWords();
  const [order, setOrder] = useState<Order | null>(null);
  const [all, setAll] = useState(false);
  const numeric = useMemo(() => table.columns.map((_, i) => isNumeric(table, i)), [table]);
  const rows: Cell[][] = useMemo(
    () => (order ? sortedRows(table.rows, order.key, order.descending) : table.rows), [table, order]);
  const shown = all ? rows : rows.slice(0, SHORT);
  return (
    <>
      <div class="scroll analysis-scroll" tabIndex={0} role="region" aria-label={table.title}>
        <table class="jobs analysis-table">
          <Heads table={table} numeric={numeric} order={order} setOrder={setOrder} />
          <tbody>
            {shown.map((row, i) => (
              <tr key={i}>
                {row.map((cell, column) => (
                  <td key={column} class={numeric[column] ? 'number' : ''}>{cellText(cell)}</td>
                ))}
              </tr>
            ))}
          </tbody>
        </table>
      </div>
      {rows.length > SHORT && (
        <button type="button" class="more" onClick={() => setAll(!all)} aria-expanded={all}>
          {all ? words.showFewer : words.showAll(count(rows.length))}
        </button>
      )}
    </>
  );
}

export function SaveTable({ table }: { table: Table }) {
  const words = useWords();
  return (
    <button type="button" class="save" aria-label={`${words.saveCsv}: ${table.title}`}
      onClick={() => save(`${table.id}.csv`, 'text/csv;charset=utf-8', tableCsv(table))}>
      ↓ {words.saveCsv}
    </button>
  );
}

export function TablePanel({ table }: { table: Table }) {
  return (
    <div class="panel item" id={`table-${table.id}`}>
      <Head {...table}>
        <SaveTable table={table} />
      </Head>
      <Rows table={table} />
    </div>
  );
}
