/* The files that a process has open. */
#ifndef SC_REPORT_COMMAND_DESCRIPTORS_H
#define SC_REPORT_COMMAND_DESCRIPTORS_H

/* Closes all but the three standard ones and `own`, which may be -1 or one of these. */
void sc_descriptors_close_but(int own);

#endif
