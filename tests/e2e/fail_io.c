/* fail_io.c - runs a program, and has its k-th system call of input or output fail, or kills the process in place of it:
 *
 *     fail_io SAYS FOLDER K WHAT PROGRAM ARG…
 *
 * FOLDER: calls on files below it count. Others, such as those of the dynamic linker and of pipes, do not.
 * K:      from 1 on; 0: none fails.
 * WHAT:   kill, or the errno that the call gives.
 * SAYS:   the file that gets, in a line, how many calls there were, and the K-th with its path.
 *
 * Calls are seen as they enter the kernel (seccomp, ptrace), so those of stdio inside the C library are among them. They count on all threads, in the
 * order in which they come. The exit status is the program's, 128 + the number of the signal that ended it, or 125 if the program cannot be traced.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <signal.h>
#include <stddef.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <unistd.h>

#if !defined(__x86_64__)
int main(void)
{
    return 125;                         /* registers have other names there */
}
#else

enum file_of { FD, PATH, AT_PATH };     /* the first argument is a descriptor; the first is a path; the second is */

static const struct call {
    long number;
    const char *name;
    enum file_of file;
} calls[] = {
    { SYS_open, "open", PATH }, { SYS_openat, "openat", AT_PATH }, { SYS_read, "read", FD }, { SYS_pread64, "pread", FD }, { SYS_write, "write", FD },
    { SYS_pwrite64, "pwrite", FD }, { SYS_writev, "writev", FD }, { SYS_ftruncate, "ftruncate", FD }, { SYS_fsync, "fsync", FD }, { SYS_fdatasync, "fdatasync", FD },
    { SYS_syncfs, "syncfs", FD }, { SYS_sync_file_range, "sync_file_range", FD }, { SYS_rename, "rename", PATH }, { SYS_renameat, "renameat", AT_PATH },
    { SYS_renameat2, "renameat2", AT_PATH }, { SYS_link, "link", PATH }, { SYS_unlink, "unlink", PATH }, { SYS_unlinkat, "unlinkat", AT_PATH },
    { SYS_mkdir, "mkdir", PATH }, { SYS_rmdir, "rmdir", PATH }, { SYS_flock, "flock", FD },
};
enum { N_CALLS = sizeof calls / sizeof *calls };

static void run_program(char **argv)
{
    struct sock_filter filter[2 * N_CALLS + 2];
    unsigned n = 0;
    filter[n++] = (struct sock_filter)BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr));
    for (unsigned i = 0; i < N_CALLS; i++) {
        filter[n++] = (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (unsigned)calls[i].number, 0, 1);
        filter[n++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_TRACE);
    }
    filter[n++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
    const struct sock_fprog program = { (unsigned short)n, filter };
    if (ptrace(PTRACE_TRACEME, 0, 0, 0) != 0)
        _exit(125);
    raise(SIGSTOP);
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 || prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) != 0)
        _exit(125);
    execv(argv[0], argv);
    _exit(127);
}

static void read_text(pid_t thread, unsigned long long at, char *to, size_t size)
{
    for (size_t i = 0; i < size - 1; i += sizeof(long)) {
        const long word = ptrace(PTRACE_PEEKDATA, thread, at + i, 0);
        memcpy(to + i, &word, size - i < sizeof word ? size - i : sizeof word);
        if (memchr(&word, '\0', sizeof word))
            break;
    }
    to[size - 1] = '\0';
}

static void path_of(pid_t thread, const struct user_regs_struct *r, const struct call *c, char *path, size_t size)
{
    char link[64];
    if (c->file != FD) {
        read_text(thread, c->file == PATH ? r->rdi : r->rsi, path, size);
        return;
    }
    snprintf(link, sizeof link, "/proc/%d/fd/%d", thread, (int)r->rdi);
    const ssize_t n = readlink(link, path, size - 1);
    path[n < 0 ? 0 : n] = '\0';
}

int main(int argc, char **argv)
{
    if (argc < 6)
        return 125;
    const char *folder = argv[2];
    const long wanted = atol(argv[3]);
    const int fault = strcmp(argv[4], "kill") != 0 ? atoi(argv[4]) : 0;
    char what[4200] = "none";
    long n = 0;
    int status, ended = 125;
    const pid_t child = fork();
    if (child == 0)
        run_program(argv + 5);
    waitpid(child, &status, 0);
    ptrace(PTRACE_SETOPTIONS, child, 0, PTRACE_O_TRACESECCOMP | PTRACE_O_TRACECLONE | PTRACE_O_TRACEFORK | PTRACE_O_TRACEVFORK | PTRACE_O_TRACEEXEC |
                                             PTRACE_O_EXITKILL);
    ptrace(PTRACE_CONT, child, 0, 0);
    for (pid_t thread; (thread = waitpid(-1, &status, __WALL)) > 0;) {
        struct user_regs_struct r;
        char path[4096];
        if (WIFEXITED(status) || WIFSIGNALED(status)) {
            if (thread == child)
                ended = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
            continue;
        }
        int signal = WSTOPSIG(status);
        const int event = status >> 16;
        if (event == PTRACE_EVENT_SECCOMP && ptrace(PTRACE_GETREGS, thread, 0, &r) == 0) {
            const struct call *c = calls;
            while (c->number != (long)r.orig_rax)
                c++;
            path_of(thread, &r, c, path, sizeof path);
            const bool counts = path[0] && (path[0] != '/' || !strncmp(path, folder, strlen(folder)));
            if (counts && ++n == wanted) {
                snprintf(what, sizeof what, "%s %s", c->name, path);
                if (fault == 0) {
                    kill(child, SIGKILL);
                } else {
                    r.orig_rax = (unsigned long long)-1;
                    r.rax = (unsigned long long)-fault;
                    ptrace(PTRACE_SETREGS, thread, 0, &r);
                }
            }
        }
        if (event || signal == SIGSTOP || signal == SIGTRAP)
            signal = 0;
        ptrace(PTRACE_CONT, thread, 0, signal);
    }
    FILE *says = fopen(argv[1], "w");
    if (!says || fprintf(says, "%ld %s\n", n, what) < 0 || fclose(says) != 0)
        return 125;
    return ended;
}
#endif
