// A client made from the protos in another language. usage: node client.js CASE HOST:PORT PROTO_FOLDER
'use strict';

const assert = require('node:assert');
const fs = require('node:fs');
const path = require('node:path');
const grpc = require('@grpc/grpc-js');
const loader = require('@grpc/proto-loader');

const [, , wanted, address, protos] = process.argv;
const shape = { keepCase: true, enums: String, longs: String, defaults: true, oneofs: true, includeDirs: [protos] };
const patience = 30000;

function load(...files) {
  return grpc.loadPackageDefinition(loader.loadSync(files, shape));
}

function connect(Service) {
  return new Service(address, grpc.credentials.createInsecure());
}

function api() {
  const files = fs.readdirSync(path.join(protos, 'hodei/v1')).filter((name) => name.endsWith('_service.proto'));
  return load(...files.map((name) => `hodei/v1/${name}`)).hodei.v1;
}

function deadline() {
  return new Date(Date.now() + patience);
}

// A unary call as a promise.
function call(client, method, request) {
  return new Promise((resolve, reject) => {
    client[method](request, { deadline: deadline() }, (error, answer) => (error ? reject(error) : resolve(answer)));
  });
}

// Everything a stream of answers gives until it closes.
function drain(stream, each = () => {}) {
  return new Promise((resolve, reject) => {
    const all = [];
    stream.on('data', (message) => {
      all.push(message);
      each(message);
    });
    stream.on('error', reject);
    stream.on('end', () => resolve(all));
  });
}

function shell(...args) {
  return { command: { shell: { cmd: 'sh', args: ['-c', ...args] } } };
}

function linesOf(chunks) {
  return chunks.flatMap((chunk) => chunk.entries).map((entry) => (entry.is_stderr ? 'E ' : 'O ') + entry.line.toString());
}

const cases = {
  async logs() {
    const v1 = api();
    const jobs = connect(v1.JobExecutionService);
    const logs = connect(v1.LogStreamService);
    const { job_id } = await call(jobs, 'QueueJob', { spec: shell('for i in 1 2 3; do echo out $i; done; echo err >&2; exit 4') });
    const chunks = await drain(logs.SubscribeLogs({ job_id }, { deadline: deadline() }));
    const lines = linesOf(chunks);
    assert.deepStrictEqual(lines.filter((line) => line.startsWith('O')), ['O out 1', 'O out 2', 'O out 3']);
    assert.deepStrictEqual(lines.filter((line) => line.startsWith('E')), ['E err']);
    const events = await drain(jobs.ExecutionEventStream({ job_id }, { deadline: deadline() }));
    const states = events.filter((event) => event.event === 'transition').map((event) => event.transition.to);
    assert.deepStrictEqual(states, ['Pending', 'Scheduled', 'Running', 'Failed']);
    const job = await call(jobs, 'GetJob', { job_id });
    assert.strictEqual(job.state, 'Failed');
    assert.strictEqual(job.exit_code, 4);
    const page = await call(logs, 'GetLogs', { job_id, limit: 2, offset: 1 });
    assert.strictEqual(page.entries.length, 2);
    assert.strictEqual(page.more, true);
  },

  async cancel() {
    const v1 = api();
    const jobs = connect(v1.JobExecutionService);
    const logs = connect(v1.LogStreamService);
    const { job_id } = await call(jobs, 'QueueJob', { spec: shell('echo ready; exec sleep 300') });
    const stream = logs.SubscribeLogs({ job_id }, { deadline: deadline() });
    await drain(stream, async (chunk) => {
      if (linesOf([chunk]).includes('O ready')) {
        const { state } = await call(jobs, 'CancelJob', { job_id, reason: 'seen enough', wait: true });
        assert.strictEqual(state, 'Cancelled');
      }
    });
    assert.strictEqual((await call(jobs, 'GetJob', { job_id })).state, 'Cancelled');
    await assert.rejects(call(jobs, 'CancelJob', { job_id }), { code: grpc.status.FAILED_PRECONDITION });
  },

  async reflection() {
    const names = await listServices();
    const expected = ['JobExecutionService', 'WorkerAgentService', 'SchedulerService', 'LogStreamService', 'AdminService'];
    for (const name of expected) assert.ok(names.includes(`hodei.v1.${name}`), `${name} is not among ${names}`);
    assert.ok(names.includes('grpc.health.v1.Health'), `no health service among ${names}`);
  },

  async reflected() {
    const files = new Map();
    const answers = await reflect((await listServices()).filter((name) => name.startsWith('hodei.v1.'))
      .map((name) => ({ file_containing_symbol: name })));
    for (const answer of answers) {
      for (const bytes of answer.file_descriptor_response.file_descriptor_proto) files.set(bytes.toString('base64'), bytes);
    }
    // A FileDescriptorSet is nothing but its files one after another, each as field 1.
    const set = Buffer.concat([...files.values()].map((bytes) => Buffer.concat([Buffer.from([10]), varint(bytes.length), bytes])));
    const v1 = grpc.loadPackageDefinition(loader.loadFileDescriptorSetFromBuffer(set, shape)).hodei.v1;
    const { job_id } = await call(connect(v1.JobExecutionService), 'QueueJob', { spec: shell('echo found by reflection') });
    const chunks = await drain(connect(v1.LogStreamService).SubscribeLogs({ job_id }, { deadline: deadline() }));
    assert.deepStrictEqual(linesOf(chunks), ['O found by reflection']);
  },

  async health() {
    const { Health } = load(path.join(__dirname, 'health.proto')).grpc.health.v1;
    assert.strictEqual((await call(connect(Health), 'Check', { service: '' })).status, 'SERVING');
  },

  async stream() {
    const jobs = connect(api().JobExecutionService);
    const stream = jobs.QueueJobs({ deadline: deadline() });
    const answers = drain(stream);
    const count = 50;
    for (let n = 1; n <= count; ++n) {
      stream.write({ spec: { ...shell('exit 0'), idempotency_key: `stream-${n % 25}` }, sequence: n });
    }
    stream.write({ spec: {}, sequence: count + 1 });
    stream.end();
    const all = await answers;
    assert.strictEqual(all.length, count + 1);
    const bySequence = new Map(all.map((answer) => [Number(answer.sequence), answer]));
    assert.strictEqual(new Set(all.filter((a) => a.error_code === 0).map((a) => a.job_id)).size, 25);
    assert.strictEqual(bySequence.get(count + 1).error_code, grpc.status.INVALID_ARGUMENT);
    assert.match(bySequence.get(count + 1).error_message, /command/);
  },

  async errors() {
    const v1 = api();
    const jobs = connect(v1.JobExecutionService);
    const scheduler = connect(v1.SchedulerService);
    const refused = (client, method, request, code, words) =>
      assert.rejects(call(client, method, request), (error) => {
        assert.strictEqual(grpc.status[error.code], code, `${method}: ${error.message}`);
        assert.match(error.details, words);
        return true;
      });
    await refused(jobs, 'QueueJob', {}, 'INVALID_ARGUMENT', /spec|command/);
    await refused(jobs, 'QueueJob', { spec: { ...shell('true'), timeout_ms: -1 } }, 'INVALID_ARGUMENT', /timeout_ms/);
    await refused(jobs, 'QueueJob', { spec: { ...shell('true'), name: 'x'.repeat(300) } }, 'INVALID_ARGUMENT', /name/);
    await refused(jobs, 'QueueJob', { spec: shell('x'.repeat(2 << 20)) }, 'INVALID_ARGUMENT', /spec/);
    await refused(jobs, 'QueueJob', { spec: shell('x'.repeat(5 << 20)) }, 'RESOURCE_EXHAUSTED', /larger|max|limit/);
    await refused(jobs, 'GetJob', { job_id: '../../etc/passwd' }, 'INVALID_ARGUMENT', /job_id/);
    await refused(jobs, 'GetJob', { job_id: 'jzzzz' }, 'NOT_FOUND', /jzzzz/);
    await refused(jobs, 'QueueJob', { template: 'none' }, 'NOT_FOUND', /none/);
    await refused(jobs, 'StartJob', { execution_id: 'j1.1' }, 'UNAUTHENTICATED', /session/);
    await refused(scheduler, 'ConfigureScheduler', { weight_zone: -1 }, 'INVALID_ARGUMENT', /weight_zone/);
    assert.deepStrictEqual((await call(jobs, 'ListJobs', {})).jobs, []);
  },
};

function varint(value) {
  const bytes = [];
  for (; value > 127; value >>>= 7) bytes.push((value & 127) | 128);
  return Buffer.from([...bytes, value]);
}

async function reflect(requests) {
  const { ServerReflection } = load(path.join(__dirname, 'reflection.proto')).grpc.reflection.v1alpha;
  const stream = connect(ServerReflection).ServerReflectionInfo({ deadline: deadline() });
  const answers = drain(stream);
  for (const request of requests) stream.write(request);
  stream.end();
  return answers;
}

async function listServices() {
  const [answer] = await reflect([{ list_services: '*' }]);
  return answer.list_services_response.service.map((service) => service.name);
}

cases[wanted]().then(
  () => process.exit(0),
  (error) => {
    console.error(error);
    process.exit(1);
  },
);
