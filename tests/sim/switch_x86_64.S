# SPDX-License-Identifier: MIT
# void sim_switch(void **save, void *load): leaves one stack for another, keeping what the System V
# ABI says a callee keeps.
        .text
        .globl  sim_switch
        .type   sim_switch, @function
sim_switch:
        pushq   %rbp
        pushq   %rbx
        pushq   %r12
        pushq   %r13
        pushq   %r14
        pushq   %r15
        movq    %rsp, (%rdi)
        movq    %rsi, %rsp
        popq    %r15
        popq    %r14
        popq    %r13
        popq    %r12
        popq    %rbx
        popq    %rbp
        ret
        .size   sim_switch, .-sim_switch
        .section .note.GNU-stack,"",@progbits
