import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Properties;
import org.apache.kafka.clients.ClientUtils;
import org.apache.kafka.clients.DefaultHostResolver;
import org.apache.kafka.clients.admin.AdminClientConfig;
import org.apache.kafka.common.metrics.Metrics;
import org.apache.kafka.common.network.Selector;
import org.apache.kafka.common.utils.LogContext;
import org.apache.kafka.common.utils.Time;

/**
 * What opening a connection costs inside Kafka's own classes: {@code Connections FILE HOST PORT LISTEN}, then a count a line on stdin.
 *
 * <p>Timed are the two steps that the agent hooks, as NetworkClient takes them: resolve the advertised host, and
 * {@code Selector.connect}, which opens the socket and starts the handshake. The answer is in microseconds for each connection.
 * HOST:PORT is what a broker would advertise; LISTEN is the port on 127.0.0.1 where this program itself accepts.
 */
public final class Connections {
  private Connections() {}

  public static void main(String[] arguments) throws Exception {
    Properties properties = new Properties();
    try (java.io.Reader reader = Files.newBufferedReader(Path.of(arguments[0]))) {
      properties.load(reader);
    }
    String host = arguments[1];
    int port = Integer.parseInt(arguments[2]);
    ServerSocket server = new ServerSocket(Integer.parseInt(arguments[3]), 4096, InetAddress.getByName("127.0.0.1"));
    Thread acceptor = new Thread(() -> accept(server), "acceptor");
    acceptor.setDaemon(true);
    acceptor.start();

    LogContext log = new LogContext();
    DefaultHostResolver resolver = new DefaultHostResolver();
    BufferedReader counts = new BufferedReader(new InputStreamReader(System.in));
    try (Selector selector = new Selector(
        60_000, new Metrics(), Time.SYSTEM, "bench",
        ClientUtils.createChannelBuilder(new AdminClientConfig(properties), Time.SYSTEM, log), log)) {
      for (String line = counts.readLine(); line != null; line = counts.readLine()) {
        int count = Integer.parseInt(line);
        long spent = 0;
        for (int each = 0; each < count; each++) {
          String id = String.valueOf(each);
          long start = System.nanoTime();
          selector.connect(id, new InetSocketAddress(resolver.resolve(host)[0], port), -1, -1);
          spent += System.nanoTime() - start;
          selector.poll(1000);
          if (selector.connected().isEmpty()) {
            throw new IOException("not connected: " + selector.disconnected());
          }
          selector.close(id);
        }
        System.out.println(spent / 1e3 / count);
        System.out.flush();
      }
    }
  }

  private static void accept(ServerSocket server) {
    while (true) {
      try (Socket accepted = server.accept()) {
        // Read until the client closes, then reset: no TIME_WAIT, or the ports of this machine would run out.
        accepted.getInputStream().read();
        accepted.setSoLinger(true, 0);
      } catch (IOException closed) {
        if (server.isClosed()) {
          return;
        }
      }
    }
  }
}
