// A Go client that is expected to fail: `go run . LIBRARY` with a situation as JSON on standard input.
// What counts is what the library logs and the error that it returns, as programs print it.
package main

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"log"
	"os"
	"time"

	"github.com/IBM/sarama"
	"github.com/segmentio/kafka-go"
	kafkaplain "github.com/segmentio/kafka-go/sasl/plain"
	"github.com/segmentio/kafka-go/sasl/scram"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/sasl/plain"
	franzscram "github.com/twmb/franz-go/pkg/sasl/scram"
)

const patience = 8 * time.Second

type situation struct {
	Name, Servers, Protocol, Mechanism, User, Password, Ca, Topic string
	Size                                                          int
}

func main() {
	var it situation
	if err := json.NewDecoder(os.Stdin).Decode(&it); err != nil {
		log.Fatal(err)
	}
	map[string]func(situation){"sarama": useSarama, "franz-go": useFranz, "kafka-go": useKafkaGo}[os.Args[1]](it)
}

func (it situation) servers() []string {
	var found []string
	start := 0
	for at := 0; at <= len(it.Servers); at++ {
		if at == len(it.Servers) || it.Servers[at] == ',' {
			found = append(found, it.Servers[start:at])
			start = at + 1
		}
	}
	return found
}

func (it situation) tls() *tls.Config {
	if it.Protocol != "SSL" && it.Protocol != "SASL_SSL" {
		return nil
	}
	roots := x509.NewCertPool()
	if it.Ca != "" {
		pem, err := os.ReadFile(it.Ca)
		if err != nil {
			log.Fatal(err)
		}
		roots.AppendCertsFromPEM(pem)
	}
	return &tls.Config{RootCAs: roots}
}

func report(what string, err error) {
	if err != nil {
		log.Printf("%s: %v", what, err)
	}
}

func useSarama(it situation) {
	sarama.Logger = log.New(os.Stderr, "[sarama] ", log.LstdFlags)
	config := sarama.NewConfig()
	config.Net.DialTimeout, config.Net.ReadTimeout = 2*time.Second, 3*time.Second
	config.Metadata.Retry.Max = 1
	config.Producer.Return.Successes = true
	config.Producer.MaxMessageBytes = 16 << 20
	if config.Net.TLS.Config = it.tls(); config.Net.TLS.Config != nil {
		config.Net.TLS.Enable = true
	}
	if it.Mechanism != "" {
		config.Net.SASL.Enable = true
		config.Net.SASL.User, config.Net.SASL.Password = it.User, it.Password
	}
	producer, err := sarama.NewSyncProducer(it.servers(), config)
	report("producer", err)
	if err == nil {
		_, _, err = producer.SendMessage(&sarama.ProducerMessage{Topic: it.Topic, Value: sarama.ByteEncoder(make([]byte, it.Size))})
		report("send", err)
		producer.Close()
	}
	group, err := sarama.NewConsumerGroup(it.servers(), it.Name+"-sarama", config)
	report("group", err)
	if err == nil {
		within, stop := context.WithTimeout(context.Background(), patience)
		report("consume", group.Consume(within, []string{it.Topic}, nothing{}))
		stop()
		group.Close()
	}
}

type nothing struct{}

func (nothing) Setup(sarama.ConsumerGroupSession) error   { return nil }
func (nothing) Cleanup(sarama.ConsumerGroupSession) error { return nil }
func (nothing) ConsumeClaim(session sarama.ConsumerGroupSession, _ sarama.ConsumerGroupClaim) error {
	<-session.Context().Done()
	return nil
}

func useFranz(it situation) {
	options := []kgo.Opt{
		kgo.SeedBrokers(it.servers()...), kgo.WithLogger(kgo.BasicLogger(os.Stderr, kgo.LogLevelInfo, nil)),
		kgo.DialTimeout(2 * time.Second), kgo.RequestTimeoutOverhead(2 * time.Second), kgo.RecordDeliveryTimeout(4 * time.Second),
		kgo.ConsumeTopics(it.Topic), kgo.ConsumerGroup(it.Name + "-franz"), kgo.ProducerBatchMaxBytes(16 << 20),
	}
	if config := it.tls(); config != nil {
		options = append(options, kgo.DialTLSConfig(config))
	}
	if it.Mechanism == "PLAIN" {
		options = append(options, kgo.SASL(plain.Auth{User: it.User, Pass: it.Password}.AsMechanism()))
	} else if it.Mechanism != "" {
		options = append(options, kgo.SASL(franzscram.Auth{User: it.User, Pass: it.Password}.AsSha256Mechanism()))
	}
	client, err := kgo.NewClient(options...)
	if err != nil {
		log.Fatal(err)
	}
	within, stop := context.WithTimeout(context.Background(), patience)
	defer stop()
	report("ping", client.Ping(within))
	report("produce", client.ProduceSync(within, &kgo.Record{Topic: it.Topic, Value: make([]byte, it.Size)}).FirstErr())
	for _, each := range client.PollFetches(within).Errors() {
		report("fetch "+each.Topic, each.Err)
	}
	client.CloseAllowingRebalance()
}

func useKafkaGo(it situation) {
	dialer := &kafka.Dialer{Timeout: 3 * time.Second, TLS: it.tls()}
	transport := &kafka.Transport{DialTimeout: 3 * time.Second, TLS: it.tls()}
	if it.Mechanism == "PLAIN" {
		login := kafkaplain.Mechanism{Username: it.User, Password: it.Password}
		dialer.SASLMechanism, transport.SASL = login, login
	} else if it.Mechanism != "" {
		login, err := scram.Mechanism(scram.SHA256, it.User, it.Password)
		if err != nil {
			log.Fatal(err)
		}
		dialer.SASLMechanism, transport.SASL = login, login
	}
	within, stop := context.WithTimeout(context.Background(), patience)
	defer stop()
	connection, err := dialer.DialLeader(within, "tcp", it.servers()[0], it.Topic, 0)
	report("failed to dial leader", err)
	if err == nil {
		connection.Close()
	}
	errors := kafka.LoggerFunc(func(format string, values ...interface{}) { log.Printf(format, values...) })
	writer := &kafka.Writer{
		Addr: kafka.TCP(it.servers()...), Topic: it.Topic, Transport: transport, MaxAttempts: 2, ErrorLogger: errors,
		WriteTimeout: 3 * time.Second, ReadTimeout: 3 * time.Second, BatchBytes: 16 << 20, BatchTimeout: time.Millisecond,
	}
	report("failed to write messages", writer.WriteMessages(within, kafka.Message{Value: make([]byte, it.Size)}))
	reader := kafka.NewReader(kafka.ReaderConfig{
		Brokers: it.servers(), Topic: it.Topic, GroupID: it.Name + "-kafka-go", Dialer: dialer, ErrorLogger: errors,
	})
	again, enough := context.WithTimeout(context.Background(), patience)
	defer enough()
	_, err = reader.ReadMessage(again)
	report("failed to read message", err)
	reader.Close()
}
