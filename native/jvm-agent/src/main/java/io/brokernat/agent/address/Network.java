package io.brokernat.agent.address;

/** An IPv4 or IPv6 network with its host bits zero, written {@code address/length}. */
final class Network {
    final byte[] address;
    final int length;

    private Network(byte[] address, int length) {
        this.address = address;
        this.length = length;
    }

    static Network parse(String text) throws NotationException {
        int slash = text.indexOf('/');
        String lengthText = text.substring(slash + 1);
        if (lengthText.indexOf(':') >= 0) {
            throw Fault.CIDR_WITH_PORT.with("the network `" + text + "` has a port");
        }
        String addressText = text.substring(0, slash);
        byte[] address = addressText.indexOf(':') < 0 ? Ip.parseV4(addressText) : Ip.parseV6(addressText);
        int length = Ip.decimal(lengthText, 3);
        if (address == null || length < 0 || length > address.length * 8) {
            throw Fault.BAD_CIDR.with("`" + text + "` is not a network");
        }
        Network network = new Network(address, length);
        if (network.hasHostBits()) {
            throw Fault.CIDR_HOST_BITS.with("the network `" + text + "` has host bits set");
        }
        return network;
    }

    boolean contains(byte[] other) {
        if (other.length != address.length) {
            return false;
        }
        int difference = 0;
        for (int i = 0; i < address.length; i++) {
            difference |= (address[i] ^ other[i]) & mask(i);
        }
        return difference == 0;
    }

    /** The address in this network with the host bits of {@code other}. */
    byte[] withHostBitsOf(byte[] other) {
        byte[] result = new byte[address.length];
        for (int i = 0; i < result.length; i++) {
            result[i] = (byte) (address[i] | other[i] & ~mask(i));
        }
        return result;
    }

    private boolean hasHostBits() {
        int bits = 0;
        for (int i = 0; i < address.length; i++) {
            bits |= address[i] & ~mask(i);
        }
        return (bits & 0xff) != 0;
    }

    private int mask(int index) {
        int bits = Math.max(0, Math.min(8, length - 8 * index));
        return 0xff << (8 - bits) & 0xff;
    }

    @Override
    public String toString() {
        return Ip.format(address) + "/" + length;
    }
}
