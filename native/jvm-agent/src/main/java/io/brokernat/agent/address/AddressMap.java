package io.brokernat.agent.address;

import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.IdentityHashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.StringJoiner;
import java.util.concurrent.atomic.AtomicLong;

/**
 * Rules in order: the first match wins, and a translated endpoint is never looked up again. Counts how often each rule was
 * used, so that one that never was can be reported.
 *
 * <p>Here and in all that runs before {@code main}: no lambdas, streams or formats. The first of them costs a JVM 20 ms and more.
 */
public final class AddressMap {
    private final List<Rule> rules;
    private final Map<Rule, AtomicLong> uses = new IdentityHashMap<>();

    private AddressMap(List<Rule> rules) {
        this.rules = rules;
        for (Rule rule : rules) {
            uses.put(rule, new AtomicLong());
        }
    }

    /**
     * Rules separated by {@code ,} or line ends; {@code #} starts a comment that ends with its line.
     *
     * @throws MapException with every wrong rule, at its line and column of the text
     */
    public static AddressMap parse(String text) throws MapException {
        List<Rule> rules = new ArrayList<>();
        List<NotationException> faults = new ArrayList<>();
        String[] lines = text.split("\r\n|\r|\n", -1);
        for (int number = 1; number <= lines.length; number++) {
            int start = 0;
            for (String entry : lines[number - 1].split("#", 2)[0].split(",", -1)) {
                String rule = RuleParser.strip(entry);
                try {
                    if (!rule.isEmpty()) {
                        rules.add(RuleParser.parse(rule));
                    }
                } catch (NotationException e) {
                    faults.add(e.at(number, start + entry.indexOf(rule) + 1, rule));
                }
                start += entry.length() + 1;
            }
        }
        if (!faults.isEmpty()) {
            // A template is no mistake of notation, so what is one comes first.
            faults.sort(Comparator.comparing(fault -> fault.fault() == Fault.NEEDS_NODE_ID));
            throw new MapException(faults);
        }
        return new AddressMap(rules);
    }

    /** Whether some rule translates this host at some port. */
    public boolean knows(Host host) {
        for (Rule rule : rules) {
            if (rule.knows(host)) {
                return true;
            }
        }
        return false;
    }

    /** The endpoint to dial and the rule that says so; null where no rule matches. */
    public Translation find(Endpoint endpoint) {
        for (Rule rule : rules) {
            if (rule.matches(endpoint)) {
                return new Translation(rule.translate(endpoint), rule);
            }
        }
        return null;
    }

    /** The same, for a connection that is made: the rule counts as used. */
    public Translation translate(Endpoint endpoint) {
        Translation translation = find(endpoint);
        if (translation != null) {
            uses.get(translation.rule).incrementAndGet();
        }
        return translation;
    }

    /** Each rule's canonical text, in order, and how often it was used; a rule that stands twice is counted once. */
    public Map<String, Long> uses() {
        Map<String, Long> counts = new LinkedHashMap<>();
        rules.forEach(rule -> counts.merge(rule.toString(), uses.get(rule).get(), Long::sum));
        return counts;
    }

    /** The canonical text: no blanks, because Spark and JAVA_TOOL_OPTIONS split on them. */
    @Override
    public String toString() {
        StringJoiner text = new StringJoiner(",");
        for (Rule rule : rules) {
            text.add(rule.toString());
        }
        return text.toString();
    }

    /** SHA-256 of the canonical text, 64 hexadecimal digits. */
    public String fingerprint() {
        try {
            byte[] digest = MessageDigest.getInstance("SHA-256").digest(toString().getBytes(StandardCharsets.UTF_8));
            StringBuilder hex = new StringBuilder();
            for (byte value : digest) {
                hex.append(Character.forDigit(value >> 4 & 0xf, 16)).append(Character.forDigit(value & 0xf, 16));
            }
            return hex.toString();
        } catch (NoSuchAlgorithmException e) {
            throw new IllegalStateException("every Java has SHA-256", e);
        }
    }
}
