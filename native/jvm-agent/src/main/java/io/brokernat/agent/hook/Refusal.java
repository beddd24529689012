package io.brokernat.agent.hook;

import org.objectweb.asm.ClassVisitor;
import org.objectweb.asm.MethodVisitor;
import org.objectweb.asm.Opcodes;

/** Each method throws {@link java.net.ConnectException}, which Kafka's network code handles as a failed connection. */
final class Refusal extends ClassVisitor {
    private static final String EXCEPTION = "java/net/ConnectException";

    private final String words;

    Refusal(ClassVisitor next, String words) {
        super(Opcodes.ASM9, next);
        this.words = words;
    }

    @Override
    public MethodVisitor visitMethod(int access, String name, String descriptor, String signature, String[] exceptions) {
        MethodVisitor code = super.visitMethod(access, name, descriptor, signature, exceptions);
        boolean hasNone = (access & (Opcodes.ACC_ABSTRACT | Opcodes.ACC_NATIVE)) != 0;
        // A constructor has to call its parent's first.
        if (hasNone || name.startsWith("<")) {
            return code;
        }
        code.visitCode();
        code.visitTypeInsn(Opcodes.NEW, EXCEPTION);
        code.visitInsn(Opcodes.DUP);
        code.visitLdcInsn(words);
        code.visitMethodInsn(Opcodes.INVOKESPECIAL, EXCEPTION, "<init>", "(Ljava/lang/String;)V", false);
        code.visitInsn(Opcodes.ATHROW);
        code.visitMaxs(0, 0);
        code.visitEnd();
        return null;
    }
}
