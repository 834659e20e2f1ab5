/*===- ModuleImage.c - Module.hip's code as bytes of the program
 * -----------===*/
/* MODULE_IMAGE is the file. The zero byte behind it terminates PTX text. */

__asm__(".section .rodata\n"
        ".balign 4096\n"
        ".global conformanceModule\n"
        "conformanceModule:\n"
        ".incbin \"" MODULE_IMAGE "\"\n"
        ".byte 0\n"
        ".section .note.GNU-stack,\"\",@progbits\n");
