package io.brokernat.agent.proof;

import java.io.IOException;
import java.net.ConnectException;
import java.net.InetSocketAddress;
import java.net.NoRouteToHostException;
import java.net.Socket;
import java.net.SocketTimeoutException;

/** Finds why a Kafka client timed out, because the client does not report it. */
final class TcpProbe {
    private static final int TIMEOUT_MS = 1000;

    private TcpProbe() {}

    /**
     * {@code connected}, {@code refused}, {@code no answer}, {@code no route}, {@code unknown host}, or the JDK's
     * message.
     */
    static String probe(String endpoint) {
        int colon = endpoint.lastIndexOf(':');
        String host = endpoint.substring(0, colon).replace("[", "").replace("]", "");
        InetSocketAddress address = new InetSocketAddress(host, Integer.parseInt(endpoint.substring(colon + 1)));
        if (address.isUnresolved()) {
            return "unknown host";
        }
        try (Socket socket = new Socket()) {
            socket.connect(address, TIMEOUT_MS);
            return "connected";
        } catch (SocketTimeoutException e) {
            return "no answer";
        } catch (NoRouteToHostException e) {
            return "no route";
        } catch (ConnectException e) {
            String message = String.valueOf(e.getMessage());
            return message.contains("refused") ? "refused" : message.contains("unreachable") ? "no route" : message;
        } catch (IOException e) {
            return String.valueOf(e.getMessage());
        }
    }
}
