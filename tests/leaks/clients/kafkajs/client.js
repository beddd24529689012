// A user's program on kafkajs, with the contract of ../go/main.go: its order as JSON in the first line of standard
// input, answers as lines of JSON.
const { Kafka, Partitioners } = require('kafkajs')
const lines = require('readline').createInterface({ input: process.stdin })[Symbol.asyncIterator]()

const RECORDS = 10 // Of one partition, in one round.
const PATIENCE = 90_000
const pause = (milliseconds) => new Promise((resolve) => setTimeout(resolve, milliseconds))
const say = (answer) => process.stdout.write(JSON.stringify(answer) + '\n')
// kafkajs logs to standard output by default.
const logCreator = () => (entry) => process.stderr.write(JSON.stringify(entry) + '\n')

class Program {
  constructor(order) {
    this.order = order
    const retry = { retries: 100, initialRetryTime: 100, maxRetryTime: 1000 }
    this.kafka = new Kafka({ clientId: 'app', brokers: order.bootstrap, retry, logCreator })
  }

  async admin() {
    const { topic, partitions, replicas } = this.order
    const client = this.kafka.admin()
    await client.connect()
    // Its own wait for leaders gives up at the first broker that has not heard of the topic yet.
    const topics = [{ topic, numPartitions: partitions, replicationFactor: replicas }]
    await client.createTopics({ topics, waitForLeaders: false })
    await this.known(client)
    await client.describeCluster()
    // All brokers are asked for their groups.
    await client.listGroups()
    await client.disconnect()
  }

  async known(client) {
    for (const deadline = Date.now() + PATIENCE; ; await pause(100)) {
      try {
        return await client.fetchTopicMetadata({ topics: [this.order.topic] })
      } catch (error) {
        if (Date.now() > deadline) throw error
      }
    }
  }

  async producer(how = {}) {
    const createPartitioner = Partitioners.DefaultPartitioner
    const client = this.kafka.producer({ createPartitioner, ...how })
    await client.connect()
    return client
  }

  records(value) {
    const numbers = [...Array(this.order.partitions * RECORDS).keys()]
    return numbers.map((number) => ({ partition: number % this.order.partitions, value: `${value} ${number}` }))
  }

  async send(value, how) {
    const client = await this.producer(how)
    await client.send({ topic: this.order.topic, acks: -1, messages: this.records(value) })
    await client.disconnect()
  }

  async transactional() {
    const { topic } = this.order
    const client = await this.producer({ transactionalId: topic, maxInFlightRequests: 1, idempotent: true })
    for (const end of ['commit', 'abort']) {
      const transaction = await client.transaction()
      await transaction.send({ topic, messages: this.records(end === 'commit' ? 'committed' : 'aborted') })
      await transaction[end]()
    }
    await client.disconnect()
  }

  async consumer(eachMessage) {
    const client = this.kafka.consumer({ groupId: this.order.topic })
    await client.connect()
    await client.subscribe({ topic: this.order.topic, fromBeginning: true })
    await client.run({ eachMessage })
    return client
  }

  // kafkajs sees committed records only, unless it is told otherwise.
  async group() {
    const names = { producer: 'producer', idempotent: 'idempotent', transactional: 'committed' }
    const expected = Object.fromEntries(
      this.order.roles.filter((role) => names[role]).map((role) => [names[role], RECORDS * this.order.partitions])
    )
    const counts = Object.fromEntries(Object.keys(expected).map((name) => [name, 0]))
    const same = () => JSON.stringify(counts) === JSON.stringify(expected)
    const written = new Set()
    const client = await this.consumer(async ({ message }) => {
      const value = message.value.toString()
      const name = value.split(' ')[0]
      // A plain producer may write a record twice.
      if (name === 'producer' && written.has(value)) return
      written.add(value)
      counts[name] = (counts[name] || 0) + 1
    })
    for (const deadline = Date.now() + PATIENCE; !same() && Date.now() < deadline; ) await pause(100)
    await client.disconnect()
    if (!same()) throw new Error(`the group read ${JSON.stringify(counts)} and not ${JSON.stringify(expected)}`)
  }

  async exercise() {
    const answer = { version: `kafkajs ${require('kafkajs/package.json').version}` }
    for (const role of this.order.roles) {
      try {
        if (role === 'producer') await this.send(role)
        else if (role === 'idempotent') await this.send(role, { idempotent: true, maxInFlightRequests: 1 })
        else await this[role]()
        answer[role] = 'ok'
      } catch (error) {
        answer[role] = `${error}`
      }
    }
    say(answer)
  }

  async traffic() {
    const acked = new Map()
    const read = new Map()
    const failures = []
    let leaders = {}
    let writing = true
    const write = async () => {
      const client = await this.producer({ idempotent: true, maxInFlightRequests: 1 })
      const admin = this.kafka.admin()
      await admin.connect()
      for (let number = 0; writing; number++) {
        try {
          // One partition a send: kafkajs 2.2.4 resolves a send of several although it dropped one whose leader moved
          // to a broker that had already answered (sendMessages.js, `brokersWithoutResponse`).
          for (let partition = 0; partition < this.order.partitions; partition++) {
            const value = `${partition}-${number}`
            await client.send({ topic: this.order.topic, acks: -1, messages: [{ partition, value }] })
            acked.set(value, partition)
          }
          const { topics } = await admin.fetchTopicMetadata({ topics: [this.order.topic] })
          leaders = Object.fromEntries(topics[0].partitions.map((each) => [each.partitionId, each.leader]))
        } catch (error) {
          failures.push(`${error}`)
        }
        await pause(5)
      }
      await client.disconnect()
      await admin.disconnect()
    }
    const written = write()
    const client = await this.consumer(async ({ partition, message }) => read.set(message.value.toString(), partition))
    const byPartition = (values) => {
      const counts = {}
      for (const partition of values.values()) counts[partition] = (counts[partition] || 0) + 1
      return counts
    }
    const lost = () => [...acked.keys()].filter((value) => !read.has(value)).length
    const state = () => ({
      acked_by_partition: byPartition(acked),
      read_by_partition: byPartition(read),
      acked: acked.size,
      leaders,
      failures,
      lost: lost(),
    })
    for await (const line of lines) {
      if (line.trim() === 'stop') break
      say(state())
    }
    writing = false
    await written
    for (const deadline = Date.now() + PATIENCE; lost() && Date.now() < deadline; ) await pause(100)
    await client.disconnect()
    say(state())
  }
}

lines.next().then(async ({ value }) => {
  const order = JSON.parse(value)
  await new Program(order)[order.do]()
  process.exit(0)
})
