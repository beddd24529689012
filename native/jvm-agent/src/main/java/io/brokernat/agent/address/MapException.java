package io.brokernat.agent.address;

import java.util.List;
import java.util.stream.Collectors;

/** All faults of the text of a map. */
public final class MapException extends Exception {
    private static final long serialVersionUID = 1L;

    private final transient List<NotationException> faults;

    MapException(List<NotationException> faults) {
        super(faults.stream().map(Throwable::getMessage).collect(Collectors.joining(" | ")));
        this.faults = List.copyOf(faults);
    }

    /** An error outside a rule, such as an unreadable file. */
    public MapException(String message) {
        super(message);
        this.faults = List.of();
    }

    public List<NotationException> faults() {
        return faults;
    }
}
