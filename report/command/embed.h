/* Files of the source tree as strings of the command. */
#ifndef SC_REPORT_COMMAND_EMBED_H
#define SC_REPORT_COMMAND_EMBED_H

/* The file at `path`, seen from the top of the tree, with a NUL behind it. The Makefile's EMBEDDED
 * names it, so that a change of it rebuilds. */
#define SC_EMBED(name, path)                                                                       \
    __asm__(".pushsection .rodata\n" #name ":\n.incbin \"" path "\"\n.byte 0\n.popsection\n");     \
    extern const char name[] __attribute__((visibility("hidden")))

#endif
