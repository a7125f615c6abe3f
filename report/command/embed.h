/* Puts files of the source tree into the command, as strings. */
#ifndef SC_REPORT_COMMAND_EMBED_H
#define SC_REPORT_COMMAND_EMBED_H

/* Defines the string `name`, with the content of the file at `path` (from the top of the tree) and
 * a NUL. The Makefile's EMBEDDED names the file as well, so that a change of it rebuilds the
 * command. */
#define SC_EMBED(name, path)                                                                       \
    __asm__(".pushsection .rodata\n" #name ":\n.incbin \"" path "\"\n.byte 0\n.popsection\n");     \
    extern const char name[] __attribute__((visibility("hidden")))

#endif
