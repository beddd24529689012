// A kafkajs client that is expected to fail: a situation as JSON on standard input, NODE_PATH leads to kafkajs.
const { Kafka } = require('kafkajs')
const fs = require('fs')

const it = JSON.parse(fs.readFileSync(0, 'utf8'))
const kafka = new Kafka({
  clientId: 'app',
  brokers: it.servers.split(','),
  connectionTimeout: 2000,
  requestTimeout: 3000,
  retry: { retries: 2, initialRetryTime: 100 },
  ssl: it.protocol.endsWith('SSL') ? {
        ca: it.ca ? [fs.readFileSync(it.ca, 'utf8')] : undefined,
        checkServerIdentity: it.verify ? undefined : () => undefined,
      } : undefined,
  sasl: it.mechanism ? { mechanism: it.mechanism.toLowerCase(), username: it.user, password: it.password } : undefined,
})

async function produce() {
  const producer = kafka.producer()
  await producer.connect()
  await producer.send({ topic: it.topic, messages: [{ value: 'x'.repeat(it.size) }] })
}

async function consume() {
  const consumer = kafka.consumer({ groupId: it.name })
  await consumer.connect()
  await consumer.subscribe({ topic: it.topic })
  await consumer.run({ eachMessage: async () => {} })
}

setTimeout(() => process.exit(0), 8000)
Promise.allSettled([produce(), consume()]).then((results) =>
  results.filter((each) => each.status === 'rejected').forEach((each) => console.error(each.reason.stack))
)
