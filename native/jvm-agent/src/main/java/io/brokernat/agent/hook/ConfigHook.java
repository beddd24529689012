package io.brokernat.agent.hook;

import io.brokernat.agent.Hook;
import java.util.HashSet;
import java.util.Set;
import java.util.concurrent.atomic.AtomicInteger;
import org.objectweb.asm.ClassVisitor;
import org.objectweb.asm.FieldVisitor;
import org.objectweb.asm.MethodVisitor;
import org.objectweb.asm.Opcodes;

/**
 * Each return of a constructor of {@code AbstractConfig}: a client parses its bootstrap names before it creates its
 * ChannelBuilder, so its own map is read here, early enough for names that do not resolve. The fields are read, not the
 * methods: those can be overridden, and the object is not complete yet.
 */
final class ConfigHook extends HookPoint {
    private static final String MAP = "java/util/Map";

    private final Set<String> fields = new HashSet<>();
    private String owner;

    ConfigHook(ClassVisitor next, AtomicInteger found) {
        super(next, found);
    }

    @Override
    public void visit(int version, int access, String name, String signature, String superName, String[] interfaces) {
        owner = name;
        super.visit(version, access, name, signature, superName, interfaces);
    }

    @Override
    public FieldVisitor visitField(int access, String name, String descriptor, String signature, Object value) {
        if (descriptor.equals("L" + MAP + ";")) {
            fields.add(name);
        }
        return super.visitField(access, name, descriptor, signature, value);
    }

    @Override
    MethodVisitor inside(MethodVisitor code, String name, String descriptor) {
        if (!name.equals("<init>") || !fields.contains("originals") || !fields.contains("values")) {
            return code;
        }
        return new MethodVisitor(Opcodes.ASM9, code) {
            @Override
            public void visitInsn(int opcode) {
                if (opcode == Opcodes.RETURN) {
                    pushField(mv, "originals");
                    HookCall.replaceTop(mv, Hook.LEARN, MAP, target -> pushField(target, "values"));
                    mv.visitInsn(Opcodes.POP);
                    found();
                }
                super.visitInsn(opcode);
            }
        };
    }

    private void pushField(MethodVisitor code, String field) {
        code.visitVarInsn(Opcodes.ALOAD, 0);
        code.visitFieldInsn(Opcodes.GETFIELD, owner, field, "L" + MAP + ";");
    }
}
