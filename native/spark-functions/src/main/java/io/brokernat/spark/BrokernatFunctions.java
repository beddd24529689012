package io.brokernat.spark;

import java.util.Arrays;
import org.apache.spark.sql.catalyst.analysis.NoSuchFunctionException;
import org.apache.spark.sql.catalyst.util.DateTimeUtils;
import org.apache.spark.sql.connector.catalog.FunctionCatalog;
import org.apache.spark.sql.connector.catalog.Identifier;
import org.apache.spark.sql.connector.catalog.functions.UnboundFunction;
import org.apache.spark.sql.types.DataType;
import org.apache.spark.sql.types.StructType;
import org.apache.spark.sql.util.CaseInsensitiveStringMap;

/**
 * The catalog of functions in {@code spark.sql.catalog.brokernat}.
 *
 * <p>A function of a catalog (SPARK-27658) takes and returns Spark's own row format, so no value is converted, and
 * PySpark needs only its name. The name contains the settings, because Spark binds a function to the types of its
 * arguments, not to their values: {@code brokernat.decode.json.`Europe/Berlin`.`{"type":"struct", …}`}.
 */
public final class BrokernatFunctions implements FunctionCatalog {
    private String name;

    @Override
    public void initialize(String name, CaseInsensitiveStringMap options) {
        this.name = name;
    }

    @Override
    public String name() {
        return name;
    }

    @Override
    public Identifier[] listFunctions(String[] namespace) {
        return new Identifier[0];
    }

    @Override
    public UnboundFunction loadFunction(Identifier function) throws NoSuchFunctionException {
        String[] namespace = function.namespace();
        if (namespace.length > 1 && namespace[0].equals("decode")) {
            String[] settings = Arrays.copyOfRange(namespace, 1, namespace.length);
            Format format = Format.of(settings, (StructType) DataType.fromJson(function.name()));
            if (format != null) {
                return new DecodeFunction(format);
            }
        }
        if (namespace.length == 1 && namespace[0].equals("lookup")) {
            LookupFunction lookup = LookupFunction.of(function.name());
            if (lookup != null) {
                return lookup;
            }
        }
        if (namespace.length == 3 && namespace[0].equals("encode")) {
            Integer id = namespace[2].equals("none") ? null : Integer.valueOf(namespace[2]);
            return new EncodeFunction(namespace[1], function.name(), id);
        }
        if (namespace.length == 4 && namespace[0].equals("record")) {
            return new RecordFunction(
                    namespace[1], namespace[2], namespace[3], DateTimeUtils.getZoneId(function.name()));
        }
        throw new NoSuchFunctionException(function);
    }
}
