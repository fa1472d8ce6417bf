/* Read before each source of Python. glibc 2.35 has a second hypot, which differs in what it does with errno alone;
 * with the first one the program starts on glibc 2.34 too, which is the oldest that Qt starts on. */
#if defined(__x86_64__) && !defined(__ASSEMBLER__)
__asm__(".symver hypot,hypot@GLIBC_2.2.5");
#endif
