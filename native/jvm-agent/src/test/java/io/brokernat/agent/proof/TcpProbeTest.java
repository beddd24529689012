package io.brokernat.agent.proof;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.net.InetAddress;
import java.net.ServerSocket;
import org.junit.jupiter.api.Test;

class TcpProbeTest {
    @Test
    void saysWhyAnEndpointIsDead() throws Exception {
        int port;
        try (ServerSocket open = new ServerSocket(0, 5, InetAddress.getLoopbackAddress())) {
            port = open.getLocalPort();
            assertEquals("connected", TcpProbe.probe("127.0.0.1:" + port));
        }
        assertEquals("refused", TcpProbe.probe("127.0.0.1:" + port));
        assertEquals("unknown host", TcpProbe.probe("kafka-1.invalid:9092"));
    }
}
