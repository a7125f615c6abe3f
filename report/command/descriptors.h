/* Closes descriptors that a child process of the command has inherited and must not keep open. */
#ifndef SC_REPORT_COMMAND_DESCRIPTORS_H
#define SC_REPORT_COMMAND_DESCRIPTORS_H

/* Closes all descriptors except the three standard ones and `own`, which may be -1. */
void sc_descriptors_close_but(int own);

#endif
