// DuckDB on the file of analyze_bench: loads it into a table, then runs six group-bys that part of the
// report needs. One thread. Usage: npm i @duckdb/node-api; node analyze_duckdb.mjs SACCT_FILE
import { DuckDBInstance } from '@duckdb/node-api';
const file = process.argv[2];
const t0 = process.cpuUsage();
const w0 = performance.now();
const db = await DuckDBInstance.create(':memory:', { threads: '1' });
const c = await db.connect();
await c.run(`create table j as select * from read_csv('${file}', delim='|', header=true, quote='', parallel=false)`);
const tl = process.cpuUsage(t0);
const gp = `cast(regexp_extract("AllocTRES", 'gres/gpu=([0-9]+)', 1) as int)`;
const q = [
 `select "User", "Partition", count(*), sum("ElapsedRaw"*${gp}) from j group by 1,2`,
 `select "NNodes", ${gp} g, count(*), avg("ElapsedRaw"), stddev_samp("ElapsedRaw"), median("ElapsedRaw"), min("ElapsedRaw"), max("ElapsedRaw") from j where "ElapsedRaw">=300 group by 1,2`,
 `select "User", count(*), sum("ElapsedRaw"*${gp}) s from j group by 1 order by s desc`,
 `select "Partition", avg(epoch("Start")-epoch("Submit")), quantile_cont(epoch("Start")-epoch("Submit"), [0.5,0.9,0.99]) from j group by 1`,
 `select "State", count(*), sum("ElapsedRaw"*${gp}) from j group by 1`,
 `select dayofweek("Submit"), hour("Submit"), count(*) from j group by 1,2`];
let rows = 0;
for (const s of q) { const r = await c.runAndReadAll(s); rows += r.getRows().length; }
const t = process.cpuUsage(t0);
const cpu = u => ((u.user + u.system) / 1e6).toFixed(2);
console.log(`load ${cpu(tl)} s CPU, load and ${q.length} group-bys ${cpu(t)} s CPU, wall ${((performance.now()-w0)/1000).toFixed(1)} s, ${rows} rows, peak ${(process.resourceUsage().maxRSS/1024).toFixed(0)} MiB`);
