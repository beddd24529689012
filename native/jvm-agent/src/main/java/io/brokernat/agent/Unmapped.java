package io.brokernat.agent;

import io.brokernat.agent.address.MapException;

/** The treatment of an advertised endpoint without a rule. */
enum Unmapped {
    FAIL,
    PASS;

    static Unmapped parse(String text) throws MapException {
        switch (text.trim()) {
            case "fail":
                return FAIL;
            case "pass":
                return PASS;
            default:
                throw new MapException("brokernat.unmapped is `fail` or `pass`, not `" + text.trim() + "`");
        }
    }

    @Override
    public String toString() {
        return this == FAIL ? "fail" : "pass";
    }
}
