package main

import (
	"context"
	"fmt"
	"os"
	"time"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"
)

type franz struct{}

type franzClient struct{ *kgo.Client }

func (it order) franz(more ...kgo.Opt) (franzClient, error) {
	logger := kgo.BasicLogger(os.Stderr, kgo.LogLevelInfo, nil)
	client, err := kgo.NewClient(append(more, kgo.SeedBrokers(it.Bootstrap...), kgo.WithLogger(logger))...)
	return franzClient{client}, err
}

// admin creates the topic and asks every broker something that is its own.
func (franz) admin(it order) error {
	client, err := it.franz()
	if err != nil {
		return err
	}
	defer client.Close()
	within, stop := context.WithTimeout(context.Background(), patience)
	defer stop()
	topic := kmsg.NewCreateTopicsRequestTopic()
	topic.Topic, topic.NumPartitions, topic.ReplicationFactor = it.Topic, int32(it.Partitions), int16(it.Replicas)
	creation := kmsg.NewPtrCreateTopicsRequest()
	creation.Topics, creation.TimeoutMillis = append(creation.Topics, topic), 30_000
	created, err := creation.RequestWith(within, client.Client)
	if err != nil {
		return err
	}
	if err := kerr.ErrorForCode(created.Topics[0].ErrorCode); err != nil && err != kerr.TopicAlreadyExists {
		return err
	}
	cluster, err := kmsg.NewPtrMetadataRequest().RequestWith(within, client.Client)
	if err != nil {
		return err
	}
	for _, broker := range cluster.Brokers {
		if _, err := client.Broker(int(broker.NodeID)).RetriableRequest(within, kmsg.NewPtrListGroupsRequest()); err != nil {
			return fmt.Errorf("node %d: %w", broker.NodeID, err)
		}
	}
	return nil
}

func (franz) producer(it order, how kind) (producer, error) {
	options := []kgo.Opt{kgo.RecordPartitioner(kgo.ManualPartitioner()), kgo.RequiredAcks(kgo.AllISRAcks())}
	switch how {
	case plain:
		options = append(options, kgo.DisableIdempotentWrite())
	case transactional:
		options = append(options, kgo.TransactionalID(it.Topic))
	}
	return it.franz(options...)
}

func (franz) consumer(it order, group string, committedOnly bool) (consumer, error) {
	options := []kgo.Opt{
		kgo.ConsumerGroup(group), kgo.ConsumeTopics(it.Topic), kgo.ConsumeResetOffset(kgo.NewOffset().AtStart()),
		kgo.DisableAutoCommit(),
	}
	if committedOnly {
		options = append(options, kgo.FetchIsolationLevel(kgo.ReadCommitted()))
	}
	return it.franz(options...)
}

func (client franzClient) send(topic string, all []record) ([]string, error) {
	var wanted []*kgo.Record
	for _, each := range all {
		wanted = append(wanted, &kgo.Record{Topic: topic, Partition: each.partition, Value: []byte(each.value)})
	}
	var acknowledged []string
	var failed error
	for _, result := range client.ProduceSync(context.Background(), wanted...) {
		if result.Err == nil {
			acknowledged = append(acknowledged, string(result.Record.Value))
		} else if failed == nil {
			failed = result.Err
		}
	}
	return acknowledged, failed
}

func (client franzClient) begin() error { return client.BeginTransaction() }

func (client franzClient) end(commit bool) error {
	return client.EndTransaction(context.Background(), kgo.TransactionEndTry(commit))
}

func (client franzClient) leaders(topic string) (map[string]int32, error) {
	within, stop := context.WithTimeout(context.Background(), patience)
	defer stop()
	wanted := kmsg.NewMetadataRequestTopic()
	wanted.Topic = kmsg.StringPtr(topic)
	request := kmsg.NewPtrMetadataRequest()
	request.Topics = append(request.Topics, wanted)
	answer, err := request.RequestWith(within, client.Client)
	if err != nil {
		return nil, err
	}
	found := map[string]int32{}
	for _, partition := range answer.Topics[0].Partitions {
		found[fmt.Sprint(partition.Partition)] = partition.Leader
	}
	return found, nil
}

func (client franzClient) poll(atMost time.Duration) ([]record, error) {
	within, stop := context.WithTimeout(context.Background(), atMost)
	defer stop()
	var found []record
	client.PollFetches(within).EachRecord(func(each *kgo.Record) {
		found = append(found, record{each.Partition, string(each.Value)})
	})
	return found, nil
}

func (client franzClient) commit() error {
	return client.CommitUncommittedOffsets(context.Background())
}

func (client franzClient) close() { client.Close() }
