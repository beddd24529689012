package io.brokernat.agent;

import io.brokernat.agent.address.AddressMap;
import io.brokernat.agent.address.MapException;

/** The agent's argument, {@code RULES[;unmapped=fail|pass]}: the map of every client of this JVM without its own map. */
final class AgentArgument {
    private static final String UNMAPPED = "unmapped=";

    private AgentArgument() {}

    /** Null without rules: then the agent only affects clients with their own map. */
    static MapInForce parse(String argument) throws MapException {
        String[] parts = argument == null ? new String[] {""} : argument.split(";", 2);
        // The JVM may connect to other clusters, too.
        Unmapped unmapped = Unmapped.PASS;
        if (parts.length == 2) {
            String option = parts[1].trim();
            if (!option.startsWith(UNMAPPED)) {
                throw new MapException("`" + option + "` is not an option of the agent; write RULES;unmapped=fail or RULES;unmapped=pass");
            }
            unmapped = Unmapped.parse(option.substring(UNMAPPED.length()));
        }
        if (parts[0].isBlank()) {
            if (unmapped == Unmapped.FAIL) {
                throw new MapException("there is no rule before `;unmapped=fail`; write RULES;unmapped=fail, or leave the argument empty");
            }
            return null;
        }
        AddressMap map = MapText.parse(parts[0]);
        return new MapInForce(map, unmapped);
    }
}
