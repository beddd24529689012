package io.brokernat.agent;

import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.SocketTimeoutException;
import java.util.HashMap;
import java.util.Map;
import org.apache.kafka.clients.admin.AdminClient;

/** A program with a Kafka client, as {@link JarIT} starts it: prints whether its connection arrived at the port of the map. */
public final class Guest {
    private Guest() {}

    public static void main(String[] properties) throws Exception {
        try (ServerSocket broker = new ServerSocket(0, 5, InetAddress.getLoopbackAddress())) {
            broker.setSoTimeout(8_000);
            Map<String, Object> config = new HashMap<>();
            config.put("bootstrap.servers", "kafka-1.invalid:9092,127.0.0.1:1");
            for (String property : properties) {
                String[] parts = property.split("=", 2);
                config.put(parts[0], parts[1].replace("PORT", Integer.toString(broker.getLocalPort())));
            }
            try (AdminClient client = AdminClient.create(config);
                    Socket dialled = broker.accept()) {
                System.out.println("dialled by " + client.getClass().getSimpleName() + " " + dialled.isConnected());
            } catch (SocketTimeoutException e) {
                System.out.println("nobody dialled");
            }
        }
        System.out.println("agent " + System.getProperty("brokernat.agent.version") + " " + System.getProperty("brokernat.agent.map"));
        System.out.println("status " + ClassLoader.getSystemClassLoader().loadClass("io.brokernat.agent.Agent").getMethod("status").invoke(null));
    }
}
