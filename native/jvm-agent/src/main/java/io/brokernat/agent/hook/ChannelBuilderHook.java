package io.brokernat.agent.hook;

import io.brokernat.agent.Hook;
import java.util.concurrent.atomic.AtomicInteger;
import org.objectweb.asm.ClassVisitor;
import org.objectweb.asm.MethodVisitor;
import org.objectweb.asm.Opcodes;
import org.objectweb.asm.Type;

/**
 * Each return of {@code ClientUtils.createChannelBuilder(AbstractConfig, ...)}: assigns the client's own map to its
 * ChannelBuilder, which {@code Selector} holds. Brokers create theirs elsewhere, so their connections do not change.
 */
final class ChannelBuilderHook extends HookPoint {
    ChannelBuilderHook(ClassVisitor next, AtomicInteger found) {
        super(next, found);
    }

    @Override
    MethodVisitor inside(MethodVisitor code, String name, String descriptor) {
        if (!name.equals("createChannelBuilder")) {
            return code;
        }
        String builder = Type.getReturnType(descriptor).getInternalName();
        return new MethodVisitor(Opcodes.ASM9, code) {
            @Override
            public void visitInsn(int opcode) {
                if (opcode == Opcodes.ARETURN) {
                    HookCall.replaceTop(mv, Hook.ADOPT, builder, target -> target.visitVarInsn(Opcodes.ALOAD, 0));
                    found();
                }
                super.visitInsn(opcode);
            }
        };
    }
}
