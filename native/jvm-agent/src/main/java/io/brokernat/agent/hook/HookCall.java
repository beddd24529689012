package io.brokernat.agent.hook;

import static org.objectweb.asm.Opcodes.AASTORE;
import static org.objectweb.asm.Opcodes.ANEWARRAY;
import static org.objectweb.asm.Opcodes.CHECKCAST;
import static org.objectweb.asm.Opcodes.DUP;
import static org.objectweb.asm.Opcodes.DUP_X1;
import static org.objectweb.asm.Opcodes.ICONST_0;
import static org.objectweb.asm.Opcodes.INVOKEINTERFACE;
import static org.objectweb.asm.Opcodes.INVOKESTATIC;
import static org.objectweb.asm.Opcodes.INVOKEVIRTUAL;
import static org.objectweb.asm.Opcodes.SWAP;

import org.objectweb.asm.MethodVisitor;

/**
 * The call of our code from Kafka's classes: passes the value on top of the stack to {@code Hook} and replaces it by
 * the result.
 *
 * <pre>
 * ((Function) ClassLoader.getSystemClassLoader().loadClass("io.brokernat.agent.Hook").getDeclaredConstructor().newInstance())
 *     .apply(new Object[] {operation, value, extras...})
 * </pre>
 *
 * Straight-line code without new locals: no stack map frame changes, and loaded classes can be transformed, too.
 */
final class HookCall {
    private static final String HOOK = "io.brokernat.agent.Hook";
    private static final String OBJECT = "java/lang/Object";
    private static final String FUNCTION = "java/util/function/Function";

    private HookCall() {}

    /** Pushes one reference. */
    interface Push {
        void onto(MethodVisitor code);
    }

    /** @param type internal name of the result's type */
    static void replaceTop(MethodVisitor code, String operation, String type, Push... extras) {
        number(code, 2 + extras.length);
        code.visitTypeInsn(ANEWARRAY, OBJECT);
        code.visitInsn(DUP_X1);
        code.visitInsn(SWAP); // array, array, value
        number(code, 1);
        code.visitInsn(SWAP);
        code.visitInsn(AASTORE);
        store(code, 0, target -> target.visitLdcInsn(operation));
        for (int i = 0; i < extras.length; i++) {
            store(code, 2 + i, extras[i]);
        }
        hook(code);
        code.visitInsn(SWAP);
        code.visitMethodInsn(INVOKEINTERFACE, FUNCTION, "apply", "(Ljava/lang/Object;)Ljava/lang/Object;", true);
        code.visitTypeInsn(CHECKCAST, type);
    }

    private static void hook(MethodVisitor code) {
        code.visitMethodInsn(INVOKESTATIC, "java/lang/ClassLoader", "getSystemClassLoader", "()Ljava/lang/ClassLoader;", false);
        code.visitLdcInsn(HOOK);
        code.visitMethodInsn(INVOKEVIRTUAL, "java/lang/ClassLoader", "loadClass", "(Ljava/lang/String;)Ljava/lang/Class;", false);
        empty(code, "java/lang/Class");
        code.visitMethodInsn(
                INVOKEVIRTUAL, "java/lang/Class", "getDeclaredConstructor", "([Ljava/lang/Class;)Ljava/lang/reflect/Constructor;", false);
        empty(code, OBJECT);
        code.visitMethodInsn(
                INVOKEVIRTUAL, "java/lang/reflect/Constructor", "newInstance", "([Ljava/lang/Object;)Ljava/lang/Object;", false);
        code.visitTypeInsn(CHECKCAST, FUNCTION);
    }

    private static void empty(MethodVisitor code, String type) {
        number(code, 0);
        code.visitTypeInsn(ANEWARRAY, type);
    }

    private static void store(MethodVisitor code, int index, Push value) {
        code.visitInsn(DUP);
        number(code, index);
        value.onto(code);
        code.visitInsn(AASTORE);
    }

    /** Up to five. */
    private static void number(MethodVisitor code, int value) {
        code.visitInsn(ICONST_0 + value);
    }
}
