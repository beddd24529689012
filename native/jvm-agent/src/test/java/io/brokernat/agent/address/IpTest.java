package io.brokernat.agent.address;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;

import java.net.InetAddress;
import java.net.UnknownHostException;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class IpTest {
    /** The examples of RFC 5952, and the edges of zero runs. */
    @ParameterizedTest
    @CsvSource({
        "2001:db8:0:0:1:0:0:1, 2001:db8::1:0:0:1",
        "2001:0db8::0001, 2001:db8::1",
        "2001:db8:0:1:1:1:1:1, 2001:db8:0:1:1:1:1:1",
        "2001:0:0:1:0:0:0:1, 2001:0:0:1::1",
        "2001:DB8::A, 2001:db8::a",
        "::, ::",
        "1::, 1::",
        "::1, ::1",
        "0:0:1:0:0:0:0:0, 0:0:1::",
        "::ffff:192.0.2.1, ::ffff:192.0.2.1",
        "::ffff:c000:201, ::ffff:192.0.2.1",
        "64:ff9b::192.0.2.33, 64:ff9b::c000:221",
        "::1:2:3:4:5:6:7, 0:1:2:3:4:5:6:7",
    })
    void writesAsRfc5952(String text, String canonical) {
        assertEquals(canonical, Ip.format(Ip.parseV6(text)));
    }

    @ParameterizedTest
    @ValueSource(strings = {"", ":", ":::", "1", "1:2", "1::2::3", "1:2:3:4:5:6:7:8:9", "1::2:3:4:5:6:7:8", ":1:2:3:4:5:6:7", "1:2:3:4:5:6:7:",
        "12345::", "g::", "fe80::1%eth0", "::1.2.3", "::01.2.3.4", "1.2.3.4::", "::1.2.3.4:5", "1:2:3:4:5:6:7:1.2.3.4", "+1::", " ::1"})
    void refusesWhatIsNoIpv6(String text) {
        assertNull(Ip.parseV6(text));
    }

    @ParameterizedTest
    @ValueSource(strings = {"", "1", "1.2.3", "1.2.3.4.5", "01.2.3.4", "256.1.1.1", "1.2.3.-4", "1.2.3.4 ", "0x1.2.3.4", "1..2.3", "1.2.3.٤"})
    void refusesWhatIsNoIpv4(String text) {
        assertNull(Ip.parseV4(text));
    }

    @Test
    void agreesWithTheJdkOnRandomAddresses() throws UnknownHostException {
        Random random = new Random(5952);
        for (int i = 0; i < 2000; i++) {
            byte[] address = new byte[16];
            for (int group = 0; group < 8; group++) {
                if (random.nextInt(3) > 0) {
                    address[2 * group + 1] = (byte) random.nextInt();
                    address[2 * group] = (byte) (random.nextBoolean() ? 0 : random.nextInt());
                }
            }
            assertArrayEquals(address, Ip.parseV6(Ip.format(address)));
            assertArrayEquals(address, Ip.parseV6(java.net.Inet6Address.getByAddress(null, address, -1).getHostAddress()));
            assertEquals(InetAddress.getByAddress(address), InetAddress.getByName(Ip.format(address)));
        }
    }
}
