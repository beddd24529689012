package io.brokernat.agent.hook;

import io.brokernat.agent.Hook;
import java.util.concurrent.atomic.AtomicInteger;
import org.objectweb.asm.ClassVisitor;
import org.objectweb.asm.MethodVisitor;
import org.objectweb.asm.Opcodes;

/**
 * After each {@code new InetSocketAddress(String, int)} of {@code ClientUtils}: bootstrap entries. With TLS they are
 * the brokers' own names, which may not resolve here; Kafka drops unresolved entries.
 */
final class BootstrapHook extends HookPoint {
    private static final String ADDRESS = "java/net/InetSocketAddress";

    BootstrapHook(ClassVisitor next, AtomicInteger found) {
        super(next, found);
    }

    @Override
    MethodVisitor inside(MethodVisitor code, String name, String descriptor) {
        return new MethodVisitor(Opcodes.ASM9, code) {
            @Override
            public void visitMethodInsn(int opcode, String owner, String method, String type, boolean isInterface) {
                super.visitMethodInsn(opcode, owner, method, type, isInterface);
                if (owner.equals(ADDRESS) && method.equals("<init>") && type.equals("(Ljava/lang/String;I)V")) {
                    HookCall.replaceTop(mv, Hook.BOOTSTRAP, ADDRESS);
                    found();
                }
            }
        };
    }
}
