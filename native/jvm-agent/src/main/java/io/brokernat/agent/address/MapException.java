package io.brokernat.agent.address;

import java.util.List;
import java.util.stream.Collectors;

/** Every fault of the text of a map. */
public final class MapException extends Exception {
    private static final long serialVersionUID = 1L;

    private final transient List<NotationException> faults;

    MapException(List<NotationException> faults) {
        super(faults.stream().map(Throwable::getMessage).collect(Collectors.joining(" | ")));
        this.faults = List.copyOf(faults);
    }

    /** What is wrong with a text that is not rules at all. */
    public MapException(String message) {
        super(message);
        this.faults = List.of();
    }

    public List<NotationException> faults() {
        return faults;
    }
}
