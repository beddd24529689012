package io.brokernat.agent;

import java.io.File;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.URL;
import java.net.URLClassLoader;
import java.util.Map;

/**
 * Two programs in one JVM, as in a servlet container: each brings its own copy of the Kafka client and of the agent's jar in a class
 * loader of its own, and both clusters advertise one address. Prints whose connection arrived where.
 */
public final class TwoGuests {
    private TwoGuests() {}

    public static void main(String[] jars) throws Exception {
        URL[] urls = new URL[jars.length];
        for (int number = 0; number < jars.length; number++) {
            urls[number] = new File(jars[number]).toURI().toURL();
        }
        try (ServerSocket first = broker();
                ServerSocket second = broker();
                AutoCloseable firstClient = client(urls, first);
                AutoCloseable secondClient = client(urls, second);
                Socket ofFirst = first.accept();
                Socket ofSecond = second.accept()) {
            System.out.println("first dialled " + ofFirst.isConnected() + ", second dialled " + ofSecond.isConnected());
            System.out.println("one class " + (firstClient.getClass() == secondClient.getClass()));
        }
        System.out.println("status " + ClassLoader.getSystemClassLoader().loadClass("io.brokernat.agent.Agent").getMethod("status").invoke(null));
    }

    private static ServerSocket broker() throws Exception {
        ServerSocket broker = new ServerSocket(0, 5, InetAddress.getLoopbackAddress());
        broker.setSoTimeout(30_000);
        return broker;
    }

    private static AutoCloseable client(URL[] urls, ServerSocket broker) throws Exception {
        ClassLoader loader = new URLClassLoader(urls, ClassLoader.getPlatformClassLoader());
        Thread.currentThread().setContextClassLoader(loader);
        Map<String, Object> properties = Map.of(
                "bootstrap.servers", "127.0.0.1:1",
                "brokernat.map", "127.0.0.1:1=127.0.0.1:" + broker.getLocalPort(),
                "metric.reporters", "io.brokernat.agent.ReporterLoader");
        return (AutoCloseable) loader.loadClass("org.apache.kafka.clients.admin.AdminClient").getMethod("create", Map.class).invoke(null, properties);
    }
}
