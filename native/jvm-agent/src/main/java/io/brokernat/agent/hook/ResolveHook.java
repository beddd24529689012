package io.brokernat.agent.hook;

import io.brokernat.agent.Hook;
import java.util.concurrent.atomic.AtomicInteger;
import org.objectweb.asm.ClassVisitor;
import org.objectweb.asm.MethodVisitor;
import org.objectweb.asm.Opcodes;

/**
 * Each {@code InetAddress.getAllByName(String)}, replaced: an advertised name that does not resolve fails there, before
 * {@code Selector} connects. In {@code ClientUtils.resolve} up to 2.5, in {@code DefaultHostResolver} from 2.6 on.
 */
final class ResolveHook extends HookPoint {
    private static final String INET_ADDRESS = "java/net/InetAddress";
    private static final String ARRAY = "[L" + INET_ADDRESS + ";";

    ResolveHook(ClassVisitor next, AtomicInteger found) {
        super(next, found);
    }

    @Override
    MethodVisitor inside(MethodVisitor code, String name, String descriptor) {
        return new MethodVisitor(Opcodes.ASM9, code) {
            @Override
            public void visitMethodInsn(int opcode, String owner, String method, String type, boolean isInterface) {
                boolean look = owner.equals(INET_ADDRESS) && method.equals("getAllByName") && type.equals("(Ljava/lang/String;)" + ARRAY);
                if (look) {
                    HookCall.replaceTop(mv, Hook.RESOLVE, ARRAY);
                    found();
                } else {
                    super.visitMethodInsn(opcode, owner, method, type, isInterface);
                }
            }
        };
    }
}
