package io.brokernat.agent.hook;

import java.util.concurrent.atomic.AtomicInteger;
import org.objectweb.asm.ClassVisitor;
import org.objectweb.asm.MethodVisitor;
import org.objectweb.asm.Opcodes;

/**
 * A kind of place in Kafka's classes where our code is called. A hook searches instructions, not methods, because
 * methods change between releases.
 */
abstract class HookPoint extends ClassVisitor {
    private final AtomicInteger found;

    /** @param found counts the places where code was inserted */
    HookPoint(ClassVisitor next, AtomicInteger found) {
        super(Opcodes.ASM9, next);
        this.found = found;
    }

    @Override
    public final MethodVisitor visitMethod(int access, String name, String descriptor, String signature, String[] exceptions) {
        MethodVisitor code = super.visitMethod(access, name, descriptor, signature, exceptions);
        return code == null ? null : inside(code, name, descriptor);
    }

    /** The visitor for one method; the given visitor itself if the method is not searched. */
    abstract MethodVisitor inside(MethodVisitor code, String name, String descriptor);

    /** Called for each place where code was inserted. */
    final void found() {
        found.incrementAndGet();
    }
}
