package io.brokernat.agent.hook;

import io.brokernat.agent.Hook;
import java.util.concurrent.atomic.AtomicInteger;
import org.objectweb.asm.ClassVisitor;
import org.objectweb.asm.FieldVisitor;
import org.objectweb.asm.MethodVisitor;
import org.objectweb.asm.Opcodes;

/**
 * {@code Selector.connect(String, InetSocketAddress, int, int)}, on entry: all connections use it, and only it knows
 * both name and port. {@code channelBuilder} identifies the client.
 */
final class ConnectHook extends HookPoint {
    private static final String ADDRESS = "java/net/InetSocketAddress";
    private static final String DESCRIPTOR = "(Ljava/lang/String;L" + ADDRESS + ";II)V";
    private static final int CONNECTION_ID = 1;
    private static final int ADDRESS_VARIABLE = 2;

    private String owner;
    private String field;
    private String fieldType;

    ConnectHook(ClassVisitor next, AtomicInteger found) {
        super(next, found);
    }

    @Override
    public void visit(int version, int access, String name, String signature, String superName, String[] interfaces) {
        owner = name;
        super.visit(version, access, name, signature, superName, interfaces);
    }

    @Override
    public FieldVisitor visitField(int access, String name, String descriptor, String signature, Object value) {
        // Relocated copies have the type in another package.
        if (descriptor.endsWith("/ChannelBuilder;")) {
            field = name;
            fieldType = descriptor;
        }
        return super.visitField(access, name, descriptor, signature, value);
    }

    @Override
    MethodVisitor inside(MethodVisitor code, String name, String descriptor) {
        if (field == null || !name.equals("connect") || !descriptor.equals(DESCRIPTOR)) {
            return code;
        }
        return new MethodVisitor(Opcodes.ASM9, code) {
            @Override
            public void visitCode() {
                super.visitCode();
                mv.visitVarInsn(Opcodes.ALOAD, ADDRESS_VARIABLE);
                HookCall.replaceTop(mv, Hook.CONNECT, ADDRESS, ConnectHook.this::pushChannelBuilder, ConnectHook::pushConnectionId);
                mv.visitVarInsn(Opcodes.ASTORE, ADDRESS_VARIABLE);
                found();
            }
        };
    }

    private void pushChannelBuilder(MethodVisitor code) {
        code.visitVarInsn(Opcodes.ALOAD, 0);
        code.visitFieldInsn(Opcodes.GETFIELD, owner, field, fieldType);
    }

    private static void pushConnectionId(MethodVisitor code) {
        code.visitVarInsn(Opcodes.ALOAD, CONNECTION_ID);
    }
}
