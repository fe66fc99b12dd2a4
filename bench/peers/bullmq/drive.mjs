// One measurement of BullMQ: a producer and a worker in one Node process, as many jobs in flight as the worker's
// concurrency; the next job is added when one has completed.
//   node drive.mjs noop|exec IN_FLIGHT SECONDS MOST PORT
//   node drive.mjs latency 0 SECONDS MOST PORT        idle, from add() to the processor
// Prints a line of JSON.
import { spawn } from 'node:child_process';
import { createRequire } from 'node:module';

// The packages are in an ignored folder, which the caller names.
const require = createRequire(process.env.PEER_MODULES + '/');
const { Queue, Worker } = require('bullmq');

const [what, inFlightText, secondsText, mostText, portText] = process.argv.slice(2);
const idle = what === 'latency';
const inFlight = idle ? 1 : Number(inFlightText);
const [seconds, most] = [Number(secondsText), Number(mostText)];
const connection = { host: '127.0.0.1', port: Number(portText) };
const name = `bench-${process.pid}`;
const latencies = [];

function execTrue() {
  return new Promise((resolve, reject) => {
    const child = spawn('/bin/true', { stdio: 'ignore' });
    child.on('error', reject);
    child.on('exit', (code) => (code === 0 ? resolve() : reject(new Error(`exit ${code}`))));
  });
}

const processors = {
  noop: async () => {},
  exec: execTrue,
  latency: async (job) => latencies.push(Number(process.hrtime.bigint() - BigInt(job.data.asked)) / 1e6),
};

const queue = new Queue(name, { connection });
const worker = new Worker(name, processors[what], { connection, concurrency: inFlight });
await worker.waitUntilReady();

let begun = 0;
let completed = 0;
let failed = 0;
let warm = 0; // jobs that completed before the clock ran
let finish;
const finished = new Promise((resolve) => (finish = resolve));
let began = process.hrtime.bigint();
const elapsed = () => Number(process.hrtime.bigint() - began) / 1e9;

function addNext() {
  if (begun >= most || elapsed() >= seconds) {
    if (completed + failed === begun) finish();
    return;
  }
  begun += 1;
  queue.add(what, idle ? { asked: String(process.hrtime.bigint()) } : {}).catch((error) => {
    console.error(String(error));
    process.exit(1);
  });
}

worker.on('completed', () => {
  completed += 1;
  if (idle) setTimeout(addNext, 5);
  else addNext();
});
worker.on('failed', (job, error) => {
  failed += 1;
  console.error(String(error));
  addNext();
});
for (let i = 0; i < inFlight; i += 1) addNext();
// Node compiles what is hot while it runs: the clock starts when that has happened.
const warmUp = Math.min(1, seconds / 2);
if (!idle) {
  setTimeout(() => {
    warm = completed;
    began = process.hrtime.bigint();
  }, warmUp * 1000);
}
await finished;

const took = elapsed();
const facts = { per_s: (completed - warm) / took, count: completed - warm, failed, seconds: took };
if (idle) {
  latencies.sort((a, b) => a - b);
  const at = (share) => latencies[Math.floor(share * (latencies.length - 1))];
  facts.p50_ms = at(0.5);
  facts.p99_ms = at(0.99);
  facts.curve_ms = Array.from({ length: 101 }, (_, percent) => at(percent / 100));
}
console.log(JSON.stringify(facts));
await worker.close(true);
await queue.close();
process.exit(failed === 0 ? 0 : 1);
