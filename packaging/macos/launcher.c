/* What Finder starts: the Python of the bundle with Assent. A program and not a script, because macOS signs it, and asks
   for rights in its name. It takes the way to itself, so that the bundle may lie anywhere. Built by finish.sh. */
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#ifdef __APPLE__
#include <mach-o/dyld.h>
#endif

#ifndef PYTHON
#error "say which one: -DPYTHON='\"python3.11\"'"
#endif

static int place(char *into, unsigned int size)
{
#ifdef __APPLE__
    char found[PATH_MAX];
    unsigned int length = sizeof found;
    if (size < PATH_MAX || _NSGetExecutablePath(found, &length) != 0)
        return 0;
    return realpath(found, into) != NULL;
#else
    ssize_t length = readlink("/proc/self/exe", into, size - 1);
    if (length <= 0)
        return 0;
    into[length] = '\0';
    return 1;
#endif
}

int main(int count, char **given)
{
    char here[PATH_MAX], python[PATH_MAX + 64];
    char **words = calloc((size_t)count + 4, sizeof *words);
    int used = 0;
    if (words == NULL || !place(here, sizeof here) || strrchr(here, '/') == NULL) {
        fputs("assent: Where this program lies cannot be found out.\n", stderr);
        return 2;
    }
    *strrchr(here, '/') = '\0';
    snprintf(python, sizeof python, "%s/../bin/" PYTHON, here);
    words[used++] = python;
    words[used++] = "-I";
    words[used++] = "-m";
    words[used++] = "desktop";
    for (int index = 1; index < count; index++)
        if (strncmp(given[index], "-psn_", 5) != 0) /* Finder's number for the process */
            words[used++] = given[index];
    execv(python, words);
    perror("assent: The Python of this bundle does not start");
    return 2;
}
