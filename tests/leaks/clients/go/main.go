// A user's program: `clients LIBRARY`, its order as JSON in the first line of standard input, answers as lines of JSON.
//
// `exercise` plays the roles in turn and says "ok" or the error of each. `traffic` keeps a producer and a group going
// while further lines come in, until one says `stop`; each is answered with what was acknowledged and read so far.
package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"log"
	"os"
	"runtime/debug"
	"slices"
	"strings"
	"sync"
	"time"
)

const (
	records  = 10 // Of one partition, in one round.
	patience = 90 * time.Second
	pause    = 5 * time.Millisecond // Between two rounds: brokers that move are the point, not how much they can take.
)

type order struct {
	Do, Topic            string
	Bootstrap, Roles     []string
	Partitions, Replicas int
	Brokers              string // The brokers' version, for a library that wants to know.
}

type record struct {
	partition int32
	value     string
}

type kind int

const (
	plain kind = iota
	idempotent
	transactional
)

type library interface {
	admin(it order) error
	producer(it order, how kind) (producer, error)
	consumer(it order, group string, committedOnly bool) (consumer, error)
}

type producer interface {
	// send returns the values that were acknowledged, and the first failure.
	send(topic string, all []record) ([]string, error)
	begin() error
	end(commit bool) error
	leaders(topic string) (map[string]int32, error)
	close()
}

type consumer interface {
	poll(atMost time.Duration) ([]record, error)
	commit() error
	close()
}

func main() {
	lines := bufio.NewScanner(os.Stdin)
	lines.Scan()
	var it order
	if err := json.Unmarshal(lines.Bytes(), &it); err != nil {
		log.Fatal(err)
	}
	used := map[string]library{"franz-go": franz{}, "sarama": saramas{}}[os.Args[1]]
	if it.Do == "traffic" {
		traffic(used, it, lines)
		return
	}
	answer := map[string]string{"version": version(os.Args[1])}
	for _, role := range it.Roles {
		answer[role] = "ok"
		if err := play(used, it, role); err != nil {
			answer[role] = err.Error()
		}
	}
	say(answer)
}

func play(used library, it order, role string) error {
	switch role {
	case "admin":
		return used.admin(it)
	case "group":
		return readBack(used, it)
	case "transactional":
		return transactions(used, it)
	}
	writer, err := used.producer(it, map[string]kind{"producer": plain, "idempotent": idempotent}[role])
	if err != nil {
		return err
	}
	defer writer.close()
	return all(writer, it, role)
}

func transactions(used library, it order) error {
	writer, err := used.producer(it, transactional)
	if err != nil {
		return err
	}
	defer writer.close()
	for value, commit := range map[string]bool{"committed": true, "aborted": false} {
		if err := writer.begin(); err != nil {
			return err
		}
		if err := all(writer, it, value); err != nil {
			return err
		}
		if err := writer.end(commit); err != nil {
			return err
		}
	}
	return nil
}

// readBack is a group that sees committed records only: those of the roles before, and not the aborted ones.
func readBack(used library, it order) error {
	reader, err := used.consumer(it, it.Topic, true)
	if err != nil {
		return err
	}
	defer reader.close()
	expected := map[string]int{}
	for _, role := range it.Roles {
		if role == "transactional" {
			role = "committed"
		}
		if role != "admin" && role != "group" {
			expected[role] = records * it.Partitions
		}
	}
	counts, written := map[string]int{}, map[string]bool{}
	for deadline := time.Now().Add(patience); fmt.Sprint(counts) != fmt.Sprint(expected); {
		if time.Now().After(deadline) {
			return fmt.Errorf("the group read %v and not %v", counts, expected)
		}
		found, err := reader.poll(500 * time.Millisecond)
		if err != nil {
			return err
		}
		for _, each := range found {
			name, at := strings.Fields(each.value)[0], fmt.Sprint(each.partition, " ", each.value)
			// A plain producer may write a record twice.
			if name != "producer" || !written[at] {
				counts[name]++
			}
			written[at] = true
		}
	}
	return reader.commit()
}

func all(writer producer, it order, value string) error {
	var round []record
	for partition := range it.Partitions {
		for number := range records {
			round = append(round, record{int32(partition), fmt.Sprintf("%s %d", value, number)})
		}
	}
	acknowledged, err := writer.send(it.Topic, round)
	if err == nil && len(acknowledged) != len(round) {
		err = fmt.Errorf("%d of %d records were acknowledged", len(acknowledged), len(round))
	}
	return err
}

type state struct {
	Acked            map[int32]int    `json:"acked_by_partition"`
	Read             map[int32]int    `json:"read_by_partition"`
	AckedInAll       int              `json:"acked"`
	Leaders          map[string]int32 `json:"leaders"`
	Failures         []string         `json:"failures"`
	Lost             int              `json:"lost"`
	acked, read      map[string]int32
	guard            sync.Mutex
	writing, reading sync.WaitGroup
}

func traffic(used library, it order, lines *bufio.Scanner) {
	now := &state{Leaders: map[string]int32{}, Failures: []string{}, acked: map[string]int32{}, read: map[string]int32{}}
	noMoreWriting, noMoreReading := make(chan struct{}), make(chan struct{})
	now.writing.Go(func() { now.write(used, it, noMoreWriting) })
	now.reading.Go(func() { now.follow(used, it, noMoreReading) })
	for lines.Scan() && lines.Text() != "stop" {
		now.say()
	}
	close(noMoreWriting)
	now.writing.Wait()
	for deadline := time.Now().Add(patience); now.lost() > 0 && time.Now().Before(deadline); {
		time.Sleep(100 * time.Millisecond)
	}
	close(noMoreReading)
	now.reading.Wait()
	now.say()
}

func (now *state) write(used library, it order, over chan struct{}) {
	writer, err := used.producer(it, idempotent)
	for number := 0; err == nil && !closed(over); number++ {
		var round []record
		for partition := range it.Partitions {
			round = append(round, record{int32(partition), fmt.Sprintf("%d-%d", partition, number)})
		}
		acknowledged, failed := writer.send(it.Topic, round)
		leaders, unknown := writer.leaders(it.Topic)
		now.guard.Lock()
		for _, each := range round {
			if slices.Contains(acknowledged, each.value) {
				now.acked[each.value] = each.partition
			}
		}
		if failed != nil {
			now.Failures = append(now.Failures, failed.Error())
		}
		if unknown == nil {
			now.Leaders = leaders
		}
		now.guard.Unlock()
		time.Sleep(pause)
	}
	if err != nil {
		log.Fatal(err)
	}
	writer.close()
}

func (now *state) follow(used library, it order, over chan struct{}) {
	reader, err := used.consumer(it, it.Topic, false)
	if err != nil {
		log.Fatal(err)
	}
	for !closed(over) {
		found, err := reader.poll(200 * time.Millisecond)
		if err != nil {
			log.Print(err)
		}
		now.guard.Lock()
		for _, each := range found {
			now.read[each.value] = each.partition
		}
		now.guard.Unlock()
	}
	reader.close()
}

func (now *state) lost() int {
	now.guard.Lock()
	defer now.guard.Unlock()
	lost := 0
	for value := range now.acked {
		if _, read := now.read[value]; !read {
			lost++
		}
	}
	return lost
}

func (now *state) say() {
	now.Lost = now.lost()
	now.guard.Lock()
	defer now.guard.Unlock()
	now.Acked, now.Read, now.AckedInAll = byPartition(now.acked), byPartition(now.read), len(now.acked)
	say(now)
}

func byPartition(values map[string]int32) map[int32]int {
	counts := map[int32]int{}
	for _, partition := range values {
		counts[partition]++
	}
	return counts
}

func closed(over chan struct{}) bool {
	select {
	case <-over:
		return true
	default:
		return false
	}
}

func version(name string) string {
	built, _ := debug.ReadBuildInfo()
	for _, module := range built.Deps {
		if strings.HasSuffix(module.Path, "/"+name) {
			return name + " " + strings.TrimPrefix(module.Version, "v")
		}
	}
	return name
}

func say(answer any) {
	if err := json.NewEncoder(os.Stdout).Encode(answer); err != nil {
		log.Fatal(err)
	}
}
