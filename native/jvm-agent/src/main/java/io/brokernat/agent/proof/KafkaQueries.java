package io.brokernat.agent.proof;

import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.function.Function;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.apache.kafka.clients.admin.AdminClient;
import org.apache.kafka.clients.admin.AdminClientConfig;
import org.apache.kafka.clients.admin.Config;
import org.apache.kafka.clients.admin.DescribeClusterOptions;
import org.apache.kafka.clients.admin.DescribeClusterResult;
import org.apache.kafka.clients.admin.DescribeConfigsOptions;
import org.apache.kafka.clients.admin.DescribeTopicsOptions;
import org.apache.kafka.clients.admin.DescribeTopicsResult;
import org.apache.kafka.clients.admin.ListOffsetsOptions;
import org.apache.kafka.clients.admin.OffsetSpec;
import org.apache.kafka.clients.admin.TopicDescription;
import org.apache.kafka.common.KafkaFuture;
import org.apache.kafka.common.Node;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.TopicPartitionInfo;
import org.apache.kafka.common.config.ConfigResource;
import org.apache.kafka.common.errors.ClusterAuthorizationException;
import org.apache.kafka.common.errors.InvalidRequestException;
import org.apache.kafka.common.errors.TimeoutException;

/**
 * Sends requests to the brokers, with the real client and the query's own properties. It is the only class of the proof
 * that links Kafka: {@link KafkaLoader} may define it in another class loader, so it takes and returns only JDK types.
 *
 * <p>Only broker {@code n} answers {@code DescribeConfigs} of the broker resource {@code n}: success proves address,
 * TLS, SASL and identity. Any other broker returns the error {@code Unexpected broker id, expected M or empty string,
 * but received n}, where {@code M} is the id of the broker that answered.
 */
public final class KafkaQueries implements Function<Map<String, Object>, Map<String, Object>> {
    private static final Pattern WRONG_NODE = Pattern.compile("expected (\\d+)\\D.*received (\\d+)");
    // A node that does not answer costs less than five seconds, and the results of the other nodes are kept.
    private static final int TOTAL_MS = 4500;
    private static final Map<String, String> TIMEOUTS = Map.of(
            "default.api.timeout.ms", Integer.toString(TOTAL_MS),
            "request.timeout.ms", "1500",
            "socket.connection.setup.timeout.ms", "1000",
            "socket.connection.setup.timeout.max.ms", "1000");

    /**
     * @param question {@code properties}, and either {@code topics} (a list) to discover the nodes, or {@code nodes}
     *     (ids) and {@code partitions} (node id to {@code topic-partition})
     */
    @Override
    public Map<String, Object> apply(Map<String, Object> question) {
        AdminClient admin = AdminClient.create(properties(question));
        try {
            return question.containsKey("topics") ? discover(admin, list(question, "topics")) : askNodes(admin, question);
        } finally {
            admin.close(Duration.ofMillis(500));
        }
    }

    @SuppressWarnings("unchecked")
    private static Map<String, Object> properties(Map<String, Object> question) {
        Map<String, Object> properties = new HashMap<>((Map<String, Object>) question.get("properties"));
        Set<String> known = AdminClientConfig.configNames();
        TIMEOUTS.forEach((key, value) -> {
            if (known.contains(key)) {
                properties.put(key, value);
            }
        });
        properties.put("client.id", properties.getOrDefault("client.id", "brokernat") + "-proof-" + System.nanoTime());
        return properties;
    }

    @SuppressWarnings("unchecked")
    private static <T> List<T> list(Map<String, Object> question, String key) {
        return (List<T>) question.get(key);
    }

    private static Map<String, Object> askNodes(AdminClient admin, Map<String, Object> question) {
        List<Integer> nodes = list(question, "nodes");
        Map<?, ?> partitions = (Map<?, ?>) question.get("partitions");
        List<ConfigResource> resources = new ArrayList<>();
        nodes.forEach(node -> resources.add(new ConfigResource(ConfigResource.Type.BROKER, node.toString())));
        Map<ConfigResource, KafkaFuture<Config>> answers =
                admin.describeConfigs(resources, new DescribeConfigsOptions().timeoutMs(TOTAL_MS)).values();
        Map<String, Object> results = new LinkedHashMap<>();
        Map<String, KafkaFuture<?>> leaders = new LinkedHashMap<>();
        for (ConfigResource resource : resources) {
            Throwable error = errorOf(answers.get(resource));
            String partition = (String) partitions.get(Integer.valueOf(resource.name()));
            KafkaFuture<?> leader = error instanceof ClusterAuthorizationException && partition != null ? askLeader(admin, partition) : null;
            if (leader != null) {
                leaders.put(resource.name(), leader);
            }
            results.put(resource.name(), error instanceof ClusterAuthorizationException ? notProvable("") : judge(error));
        }
        leaders.forEach((node, answer) ->
                results.put(node, judgeLeader((String) partitions.get(Integer.valueOf(node)), errorOf(answer))));
        return results;
    }

    private static Map<String, Object> judge(Throwable error) {
        if (error == null) {
            return result("ok", "checked", "DescribeConfigs of the broker itself");
        }
        Matcher wrong = WRONG_NODE.matcher(String.valueOf(error.getMessage()));
        if (error instanceof InvalidRequestException && wrong.find()) {
            return result("wrong-node", "answered_by", Integer.valueOf(wrong.group(1)));
        }
        Map<String, Object> result = result(error instanceof TimeoutException ? "timed-out" : "failed", "cause", error.getClass().getName());
        result.put("message", messageOf(error));
        return result;
    }

    private static Map<String, Object> notProvable(String also) {
        return result("not-provable", "checked",
                "a broker answered there and let the client in, but its ACLs do not allow to ask which one it is" + also);
    }

    /**
     * Only a partition's leader answers ListOffsets; with any other broker the client retries until it times out.
     *
     * @return null if the client is older than 2.5 and has no such request
     */
    private static KafkaFuture<?> askLeader(AdminClient admin, String partition) {
        int dash = partition.lastIndexOf('-');
        TopicPartition asked = new TopicPartition(partition.substring(0, dash), Integer.parseInt(partition.substring(dash + 1)));
        try {
            return admin.listOffsets(Map.of(asked, OffsetSpec.latest()), new ListOffsetsOptions().timeoutMs(TOTAL_MS)).all();
        } catch (LinkageError e) {
            return null;
        }
    }

    private static Map<String, Object> judgeLeader(String partition, Throwable error) {
        if (error == null) {
            return result("ok", "checked", "ListOffsets of " + partition + ", which only its leader answers");
        }
        if (error instanceof TimeoutException) {
            Map<String, Object> result = result("failed", "cause", error.getClass().getName());
            result.put("message", "a broker answered there and let the client in, but nobody answered as the leader of " + partition
                    + "; perhaps it is another broker than the map means");
            return result;
        }
        return notProvable("; ListOffsets of " + partition + ": " + error);
    }

    private static Map<String, Object> discover(AdminClient admin, List<String> topics) {
        Map<String, Object> found = new LinkedHashMap<>();
        try {
            DescribeClusterResult cluster = admin.describeCluster(new DescribeClusterOptions().timeoutMs(TOTAL_MS));
            found.put("cluster_id", get(cluster.clusterId()));
            Map<Integer, Object> nodes = new TreeMap<>();
            for (Node node : get(cluster.nodes())) {
                String host = node.host().indexOf(':') < 0 ? node.host() : "[" + node.host() + "]";
                nodes.put(node.id(), Map.of("id", node.id(), "endpoint", host + ":" + node.port()));
            }
            found.put("nodes", nodes.values());
            found.put("partitions", leaders(admin, topics));
        } catch (ExecutionException | InterruptedException | ReflectiveOperationException e) {
            Throwable cause = e instanceof ExecutionException ? e.getCause() : e;
            found.put("cause", cause.getClass().getName());
            found.put("message", messageOf(cause));
        }
        return found;
    }

    /** For each node, the first partition of the topics that it leads. */
    private static Map<Integer, String> leaders(AdminClient admin, List<String> topics)
            throws ExecutionException, InterruptedException, ReflectiveOperationException {
        Map<Integer, String> leaders = new TreeMap<>();
        if (topics.isEmpty()) {
            return leaders;
        }
        DescribeTopicsResult result = admin.describeTopics(topics, new DescribeTopicsOptions().timeoutMs(TOTAL_MS));
        for (TopicDescription topic : get(all(result)).values()) {
            for (TopicPartitionInfo partition : topic.partitions()) {
                if (partition.leader() != null) {
                    leaders.putIfAbsent(partition.leader().id(), topic.name() + "-" + partition.partition());
                }
            }
        }
        return leaders;
    }

    /** Calls {@code allTopicNames()} (from 3.1 on) or {@code all()} (before 4.0). */
    @SuppressWarnings("unchecked")
    private static KafkaFuture<Map<String, TopicDescription>> all(DescribeTopicsResult result) throws ReflectiveOperationException {
        String name = "all";
        for (java.lang.reflect.Method method : DescribeTopicsResult.class.getMethods()) {
            name = method.getName().equals("allTopicNames") ? "allTopicNames" : name;
        }
        return (KafkaFuture<Map<String, TopicDescription>>) DescribeTopicsResult.class.getMethod(name).invoke(result);
    }

    private static Throwable errorOf(KafkaFuture<?> answer) {
        try {
            get(answer);
            return null;
        } catch (ExecutionException e) {
            return e.getCause();
        } catch (InterruptedException e) {
            return new TimeoutException(e);
        }
    }

    private static String messageOf(Throwable error) {
        return error.getMessage() == null ? error.getClass().getSimpleName() : error.getMessage();
    }

    /** The client has its own timeout; one more second protects against a client that ignores it. */
    static <T> T get(KafkaFuture<T> answer) throws ExecutionException, InterruptedException {
        try {
            return answer.get(TOTAL_MS + 1000, TimeUnit.MILLISECONDS);
        } catch (java.util.concurrent.TimeoutException e) {
            throw new ExecutionException(new TimeoutException("no answer within " + (TOTAL_MS + 1000) + " ms"));
        }
    }

    private static Map<String, Object> result(String outcome, String key, Object value) {
        Map<String, Object> result = new LinkedHashMap<>();
        result.put("outcome", outcome);
        result.put(key, value);
        return result;
    }
}
