/* A plugin with a buffer of its own, and a destructor that says so. */
unsigned char sc_static_data[1 << 20];
void (*sc_when_closed)(void);

__attribute__((destructor)) static void close_plugin(void)
{
    if (sc_when_closed)
        sc_when_closed();
}
