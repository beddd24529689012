package main

import (
	"context"
	"errors"
	"fmt"
	"log"
	"os"
	"time"

	"github.com/IBM/sarama"
)

type saramas struct{}

func (it order) sarama() *sarama.Config {
	sarama.Logger = log.New(os.Stderr, "[sarama] ", log.LstdFlags)
	config := sarama.NewConfig()
	config.Version = sarama.MaxVersion
	if version, err := sarama.ParseKafkaVersion(it.Brokers); err == nil && sarama.MaxVersion.IsAtLeast(version) {
		config.Version = version
	}
	config.Producer.Return.Successes = true
	config.Producer.Partitioner = sarama.NewManualPartitioner
	config.Producer.RequiredAcks = sarama.WaitForAll
	config.Producer.Retry.Max, config.Producer.Retry.Backoff = 200, 100*time.Millisecond
	config.Metadata.Retry.Max = 100
	config.Consumer.Offsets.Initial = sarama.OffsetOldest
	config.Consumer.Offsets.AutoCommit.Enable = false
	return config
}

// admin creates the topic and asks every broker something that is its own.
func (saramas) admin(it order) error {
	client, err := sarama.NewClusterAdmin(it.Bootstrap, it.sarama())
	if err != nil {
		return err
	}
	defer client.Close()
	wanted := &sarama.TopicDetail{NumPartitions: int32(it.Partitions), ReplicationFactor: int16(it.Replicas)}
	if err := client.CreateTopic(it.Topic, wanted, false); err != nil && !errors.Is(err, sarama.ErrTopicAlreadyExists) {
		return err
	}
	if _, _, err := client.DescribeCluster(); err != nil {
		return err
	}
	// All brokers are asked for their groups.
	_, err = client.ListConsumerGroups()
	return err
}

type saramaProducer struct {
	sarama.SyncProducer
	client sarama.Client
}

func (saramas) producer(it order, how kind) (producer, error) {
	config := it.sarama()
	if how != plain {
		config.Producer.Idempotent, config.Net.MaxOpenRequests = true, 1
	}
	if how == transactional {
		config.Producer.Transaction.ID = it.Topic
	}
	client, err := sarama.NewClient(it.Bootstrap, config)
	if err != nil {
		return nil, err
	}
	writer, err := sarama.NewSyncProducerFromClient(client)
	return saramaProducer{writer, client}, err
}

func (writer saramaProducer) send(topic string, all []record) ([]string, error) {
	var wanted []*sarama.ProducerMessage
	for _, each := range all {
		wanted = append(wanted, &sarama.ProducerMessage{
			Topic: topic, Partition: each.partition, Value: sarama.StringEncoder(each.value),
		})
	}
	failed := writer.SendMessages(wanted)
	refused := map[*sarama.ProducerMessage]bool{}
	var each sarama.ProducerErrors
	if errors.As(failed, &each) {
		for _, one := range each {
			refused[one.Msg] = true
		}
	}
	var acknowledged []string
	for at, message := range wanted {
		if !refused[message] {
			acknowledged = append(acknowledged, all[at].value)
		}
	}
	return acknowledged, failed
}

func (writer saramaProducer) begin() error { return writer.BeginTxn() }

func (writer saramaProducer) end(commit bool) error {
	if commit {
		return writer.CommitTxn()
	}
	return writer.AbortTxn()
}

func (writer saramaProducer) leaders(topic string) (map[string]int32, error) {
	if err := writer.client.RefreshMetadata(topic); err != nil {
		return nil, err
	}
	partitions, err := writer.client.Partitions(topic)
	if err != nil {
		return nil, err
	}
	found := map[string]int32{}
	for _, partition := range partitions {
		leader, err := writer.client.Leader(topic, partition)
		if err != nil {
			return nil, err
		}
		found[fmt.Sprint(partition)] = leader.ID()
	}
	return found, nil
}

func (writer saramaProducer) close() {
	writer.SyncProducer.Close()
	writer.client.Close()
}

// saramaConsumer turns the library's callbacks into calls.
type saramaConsumer struct {
	group    sarama.ConsumerGroup
	sessions chan sarama.ConsumerGroupSession
	current  sarama.ConsumerGroupSession
	messages chan *sarama.ConsumerMessage
	stop     context.CancelFunc
}

func (saramas) consumer(it order, group string, committedOnly bool) (consumer, error) {
	config := it.sarama()
	if committedOnly {
		config.Consumer.IsolationLevel = sarama.ReadCommitted
	}
	member, err := sarama.NewConsumerGroup(it.Bootstrap, group, config)
	if err != nil {
		return nil, err
	}
	until, stop := context.WithCancel(context.Background())
	reader := &saramaConsumer{
		group: member, sessions: make(chan sarama.ConsumerGroupSession, 100), messages: make(chan *sarama.ConsumerMessage), stop: stop,
	}
	go func() {
		for until.Err() == nil {
			if err := member.Consume(until, []string{it.Topic}, reader); err != nil {
				log.Print(err)
				time.Sleep(100 * time.Millisecond)
			}
		}
	}()
	return reader, nil
}

func (reader *saramaConsumer) Setup(session sarama.ConsumerGroupSession) error {
	reader.sessions <- session
	return nil
}

func (reader *saramaConsumer) Cleanup(sarama.ConsumerGroupSession) error { return nil }

func (reader *saramaConsumer) ConsumeClaim(session sarama.ConsumerGroupSession, claim sarama.ConsumerGroupClaim) error {
	for {
		select {
		case message, open := <-claim.Messages():
			if !open {
				return nil
			}
			select {
			case reader.messages <- message:
				session.MarkMessage(message, "")
			case <-session.Context().Done():
				return nil
			}
		case <-session.Context().Done():
			return nil
		}
	}
}

func (reader *saramaConsumer) poll(atMost time.Duration) ([]record, error) {
	var found []record
	enough := time.After(atMost)
	for {
		select {
		case message := <-reader.messages:
			found = append(found, record{message.Partition, string(message.Value)})
		case session := <-reader.sessions:
			reader.current = session
		case <-enough:
			return found, nil
		}
	}
}

func (reader *saramaConsumer) commit() error {
	reader.current.Commit()
	return nil
}

func (reader *saramaConsumer) close() {
	reader.stop()
	reader.group.Close()
}
