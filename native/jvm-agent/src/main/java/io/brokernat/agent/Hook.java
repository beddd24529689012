package io.brokernat.agent;

import java.io.IOException;
import java.net.ConnectException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.Map;
import java.util.function.Function;

/**
 * The target of the code inserted into Kafka's classes: a JDK interface, loaded by name from the system class loader,
 * so that all class loaders use the same class. The array holds the operation, the original value, and further
 * arguments of the operation; the result replaces the original value.
 *
 * <p>Kafka's classes are used by reflection only. It throws only exceptions that refuse a connection and those of a
 * name look-up. Any other exception is a bug of the agent: then Kafka gets its original value, but a connect under a
 * map with {@code fail} is refused, and so is every connection of a client whose map is unknown.
 */
public final class Hook implements Function<Object[], Object> {
    public static final String CONNECT = "connect";
    public static final String RESOLVE = "resolve";
    public static final String BOOTSTRAP = "bootstrap";
    public static final String ADOPT = "adopt";
    public static final String LEARN = "learn";

    private final Services services;

    public Hook() {
        this(Agent.services());
    }

    Hook(Services services) {
        this.services = services;
    }

    @Override
    public Object apply(Object[] call) {
        try {
            return answer(call);
        } catch (IOException refusal) {
            throw Hook.<RuntimeException>unchecked(refusal);
        } catch (Throwable fault) { // the agent must not break the application
            return afterFault(call, "fault of the brokernat agent in " + call[0] + ": " + fault);
        }
    }

    private Object afterFault(Object[] call, String fault) {
        if (call[0].equals(CONNECT) && services.maps.failsFor(call[2])) {
            throw Hook.<RuntimeException>unchecked(new ConnectException("refused: " + fault));
        }
        if (call[0].equals(LEARN)) {
            services.maps.learnFailed();
        }
        boolean refused = call[0].equals(ADOPT) && services.maps.adoptFailed(call[1], fault);
        services.log.warnOnce(call[1], call[0], () -> fault + (refused ? "; the client is refused" : "; the client goes on without"));
        return original(call);
    }

    private Object answer(Object[] call) throws IOException, ReflectiveOperationException {
        switch ((String) call[0]) {
            case CONNECT:
                return services.dialler.dial((InetSocketAddress) call[1], call[2], (String) call[3]);
            case RESOLVE:
                return services.names.resolve((String) call[1]);
            case BOOTSTRAP:
                return services.names.bootstrap((InetSocketAddress) call[1]);
            case ADOPT:
                adopt(services.maps, call[1], call[2]);
                return call[1];
            case LEARN:
                services.maps.learn((Map<?, ?>) call[1]);
                LoaderProperty.removeFrom((Map<?, ?>) call[2]);
                return call[1];
            default:
                throw new IllegalArgumentException((String) call[0]);
        }
    }

    private static void adopt(Maps maps, Object channelBuilder, Object config) throws ReflectiveOperationException {
        Class<?> type = config.getClass();
        maps.adopt((Map<?, ?>) type.getMethod("originals").invoke(config), channelBuilder);
        // Otherwise Kafka reports them as unknown.
        type.getMethod("ignore", String.class).invoke(config, Maps.MAP);
        type.getMethod("ignore", String.class).invoke(config, Maps.UNMAPPED);
    }

    private static Object original(Object[] call) {
        try {
            return call[0].equals(RESOLVE) ? InetAddress.getAllByName((String) call[1]) : call[1];
        } catch (IOException e) {
            throw Hook.<RuntimeException>unchecked(e);
        }
    }

    /** Kafka's methods declare these exceptions; {@link Function} cannot. */
    @SuppressWarnings("unchecked")
    private static <E extends Exception> E unchecked(Exception e) throws E {
        throw (E) e;
    }
}
