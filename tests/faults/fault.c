/*
 * Runs a command with all its child processes, and makes the Nth system call that would write below a folder fail.
 *
 *     fault ROOT MODE N REPORT COMMAND [ARG...]
 *
 * A kernel filter (seccomp) stops each process at calls that write, and only there. This program traces the processes (ptrace),
 * looks at the paths of the calls, and counts those below ROOT. This includes calls that bypass the C library, and those of git and
 * other child processes. The first line of REPORT is the number of calls; the second describes the Nth. The exit status is the
 * command's, or 128 plus the signal.
 *
 *     count       only counts
 *     kill        all processes die before the Nth call
 *     kill-one    the process that makes the Nth call dies before it
 *     torn        all die in the Nth call: a write stores half of its data; any other call is completed
 *     full        from the Nth call on, the disk is full: calls that need space fail with ENOSPC
 *     rofs        from the Nth call on, nothing can be written: EROFS
 *     eio         from the Nth call on, every call fails with EIO
 *     eio-once    only the Nth call fails with EIO
 *
 * Writes through memory mappings are not counted; git-trace makes none.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <unistd.h>

#ifndef __x86_64__
#error "only x86_64 registers are supported"
#endif

/* The effect of a call, for the mode `full`. */
enum kind { GROWS, CREATES, CHANGES };

/* The arguments that name a call's file: a descriptor, a path, or a path below a descriptor. */
struct call {
    const char *name;
    int number;
    enum kind kind;
    int fd;    /* argument with the descriptor, or -1 */
    int path;  /* argument with the path, or -1 */
    int flags; /* argument with open's flags, or -1 */
};

static const struct call CALLS[] = {
    {"write", SYS_write, GROWS, 0, -1, -1},
    {"pwrite64", SYS_pwrite64, GROWS, 0, -1, -1},
    {"writev", SYS_writev, GROWS, 0, -1, -1},
    {"pwritev", SYS_pwritev, GROWS, 0, -1, -1},
    {"copy_file_range", SYS_copy_file_range, GROWS, 2, -1, -1},
    {"sendfile", SYS_sendfile, GROWS, 0, -1, -1},
    {"fallocate", SYS_fallocate, GROWS, 0, -1, -1},
    {"ftruncate", SYS_ftruncate, CHANGES, 0, -1, -1},
    {"truncate", SYS_truncate, CHANGES, -1, 0, -1},
    {"fsync", SYS_fsync, CHANGES, 0, -1, -1},
    {"fdatasync", SYS_fdatasync, CHANGES, 0, -1, -1},
    {"open", SYS_open, CREATES, -1, 0, 1},
    {"openat", SYS_openat, CREATES, 0, 1, 2},
    {"creat", SYS_creat, CREATES, -1, 0, -1},
    {"mkdir", SYS_mkdir, CREATES, -1, 0, -1},
    {"mkdirat", SYS_mkdirat, CREATES, 0, 1, -1},
    {"link", SYS_link, CREATES, -1, 1, -1},
    {"linkat", SYS_linkat, CREATES, 2, 3, -1},
    {"symlink", SYS_symlink, CREATES, -1, 1, -1},
    {"symlinkat", SYS_symlinkat, CREATES, 1, 2, -1},
    {"rename", SYS_rename, CHANGES, -1, 1, -1},
    {"renameat", SYS_renameat, CHANGES, 2, 3, -1},
    {"renameat2", SYS_renameat2, CHANGES, 2, 3, -1},
    {"unlink", SYS_unlink, CHANGES, -1, 0, -1},
    {"unlinkat", SYS_unlinkat, CHANGES, 0, 1, -1},
    {"rmdir", SYS_rmdir, CHANGES, -1, 0, -1},
    {"chmod", SYS_chmod, CHANGES, -1, 0, -1},
    {"fchmod", SYS_fchmod, CHANGES, 0, -1, -1},
    {"fchmodat", SYS_fchmodat, CHANGES, 0, 1, -1},
};
enum { CALL_COUNT = sizeof CALLS / sizeof *CALLS };

enum { MAX_PIDS = 4096 };
static pid_t pids[MAX_PIDS];
static int pid_count;

static void die(const char *what) {
    perror(what);
    exit(125);
}

static void remember(pid_t pid) {
    for (int i = 0; i < pid_count; i++)
        if (pids[i] == pid) return;
    if (pid_count < MAX_PIDS) pids[pid_count++] = pid;
}

static void forget(pid_t pid) {
    for (int i = 0; i < pid_count; i++)
        if (pids[i] == pid) pids[i] = pids[--pid_count];
}

static void kill_all(void) {
    for (int i = 0; i < pid_count; i++) kill(pids[i], SIGKILL);
}

/* Stops this process at the listed calls. Child processes inherit the filter. */
static void filter(void) {
    struct sock_filter code[2 * CALL_COUNT + 4];
    int n = 0;
    code[n++] = (struct sock_filter)BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr));
    for (int i = 0; i < CALL_COUNT; i++) {
        code[n++] = (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, CALLS[i].number, 0, 1);
        code[n++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_TRACE);
    }
    code[n++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
    struct sock_fprog program = {(unsigned short)n, code};
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0)) die("no_new_privs");
    if (prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program)) die("seccomp");
}

static unsigned long long argument(const struct user_regs_struct *regs, int number) {
    switch (number) {
    case 0: return regs->rdi;
    case 1: return regs->rsi;
    case 2: return regs->rdx;
    default: return regs->r10;
    }
}

static int read_text(pid_t pid, unsigned long long from, char *to, size_t size) {
    size_t got = 0;
    while (got + 1 < size) {
        size_t step = 256 - (from + got) % 256; /* never past the end of a page */
        if (step > size - 1 - got) step = size - 1 - got;
        struct iovec here = {to + got, step}, there = {(void *)(from + got), step};
        ssize_t read = process_vm_readv(pid, &here, 1, &there, 1, 0);
        if (read <= 0) return -1;
        if (memchr(to + got, 0, (size_t)read)) return 0;
        got += (size_t)read;
    }
    return -1;
}

static int follow(pid_t pid, int fd, char *to) {
    char link[64];
    if (fd == AT_FDCWD) snprintf(link, sizeof link, "/proc/%d/cwd", pid);
    else snprintf(link, sizeof link, "/proc/%d/fd/%d", pid, fd);
    ssize_t len = readlink(link, to, PATH_MAX - 1);
    if (len < 0) return -1;
    to[len] = 0;
    return 0;
}

/* Removes `.` and `..` from an absolute path. */
static void normalize(char *path) {
    char out[PATH_MAX] = "";
    size_t len = 0;
    for (char *part = strtok(path, "/"); part; part = strtok(NULL, "/")) {
        if (!strcmp(part, ".")) continue;
        if (!strcmp(part, "..")) {
            while (len && out[--len] != '/') {}
            out[len] = 0;
            continue;
        }
        len += (size_t)snprintf(out + len, sizeof out - len, "/%s", part);
        if (len >= sizeof out) len = sizeof out - 1;
    }
    strcpy(path, len ? out : "/");
}

/* The absolute path of a call's file. */
static int target(pid_t pid, const struct call *call, const struct user_regs_struct *regs, char *path) {
    int fd = call->fd < 0 ? AT_FDCWD : (int)argument(regs, call->fd);
    if (call->path < 0) return follow(pid, fd, path);
    char given[PATH_MAX], folder[PATH_MAX];
    unsigned long long at = argument(regs, call->path);
    if (!at) return follow(pid, fd, path);
    if (read_text(pid, at, given, sizeof given)) return -1;
    if (given[0] == '/') {
        strcpy(path, given);
    } else {
        if (follow(pid, fd, folder)) return -1;
        if (snprintf(path, PATH_MAX, "%s/%s", folder, given) >= PATH_MAX) return -1;
    }
    normalize(path);
    return 0;
}

int main(int argc, char **argv) {
    if (argc < 6) {
        fputs("usage: fault ROOT MODE N REPORT COMMAND [ARG...]\n", stderr);
        return 125;
    }
    char root[PATH_MAX];
    if (!realpath(argv[1], root)) die(argv[1]);
    size_t root_len = strlen(root);
    const char *mode = argv[2];
    long nth = atol(argv[3]);
    int once = !strcmp(mode, "eio-once");
    int error = !strcmp(mode, "full") ? ENOSPC : !strcmp(mode, "rofs") ? EROFS : !strncmp(mode, "eio", 3) ? EIO : 0;
    int torn = !strcmp(mode, "torn"), one = !strcmp(mode, "kill-one"), all = !strcmp(mode, "kill");

    /* Adopt and reap orphans, so that a liveness check sees that they are dead. */
    if (prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)) die("subreaper");
    pid_t child = fork();
    if (child < 0) die("fork");
    if (!child) {
        if (ptrace(PTRACE_TRACEME, 0, 0, 0)) die("ptrace");
        raise(SIGSTOP);
        filter();
        execvp(argv[5], argv + 5);
        die(argv[5]);
    }
    int status = 0, result = 125;
    if (waitpid(child, &status, 0) < 0 || !WIFSTOPPED(status)) return 125;
    long options = PTRACE_O_TRACESECCOMP | PTRACE_O_TRACEFORK | PTRACE_O_TRACEVFORK | PTRACE_O_TRACECLONE |
                   PTRACE_O_TRACEEXEC | PTRACE_O_TRACESYSGOOD | PTRACE_O_EXITKILL;
    if (ptrace(PTRACE_SETOPTIONS, child, 0, options)) die("ptrace options");
    remember(child);
    ptrace(PTRACE_CONT, child, 0, 0);

    long count = 0;
    char what[PATH_MAX + 64] = "";
    int dead = 0;
    for (;;) {
        pid_t pid = waitpid(-1, &status, __WALL);
        if (pid < 0) {
            if (errno == EINTR) continue;
            break;
        }
        if (WIFEXITED(status) || WIFSIGNALED(status)) {
            forget(pid);
            if (pid == child) result = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
            continue;
        }
        int known = pid_count;
        remember(pid);
        known = known == pid_count;
        if (dead) {
            kill(pid, SIGKILL);
            continue;
        }
        int event = status >> 16, signal = WSTOPSIG(status);
        if (event == PTRACE_EVENT_SECCOMP) {
            struct user_regs_struct regs;
            char path[PATH_MAX];
            const struct call *call = NULL;
            if (!ptrace(PTRACE_GETREGS, pid, 0, &regs))
                for (int i = 0; i < CALL_COUNT; i++)
                    if ((unsigned long long)CALLS[i].number == regs.orig_rax) call = &CALLS[i];
            if (!call || target(pid, call, &regs, path)) goto on;
            if (strncmp(path, root, root_len) || (path[root_len] != '/' && path[root_len])) goto on;
            unsigned long long flags = call->flags < 0 ? O_CREAT : argument(&regs, call->flags);
            int writes = call->flags < 0 || (flags & (O_CREAT | O_TRUNC));
            int is_there = call->kind == CREATES && !access(path, F_OK);
            if (!writes) {
                /* Opens an existing file for writing. */
                if (error == EROFS && count >= nth && (flags & O_ACCMODE) != O_RDONLY) goto fail;
                goto on;
            }
            count++;
            if (count < nth || (count > nth && (!error || once)) || !nth) goto on;
            if (count == nth) snprintf(what, sizeof what, "%s %s", call->name, path + root_len);
            if (all) {
                dead = 1;
                kill_all();
                continue;
            }
            if (one) {
                kill(pid, SIGKILL);
                continue;
            }
            if (torn) {
                if (call->number == SYS_write || call->number == SYS_pwrite64) {
                    regs.rdx /= 2;
                    ptrace(PTRACE_SETREGS, pid, 0, &regs);
                }
                ptrace(PTRACE_SYSCALL, pid, 0, 0);
                continue;
            }
            if (!error) goto on;
            if (error == ENOSPC && (call->kind == CHANGES || is_there)) goto on;
            if (error == EROFS && is_there && call->flags < 0) goto on; /* the call reports EEXIST */
        fail:
            regs.orig_rax = (unsigned long long)-1;
            regs.rax = (unsigned long long)-error;
            ptrace(PTRACE_SETREGS, pid, 0, &regs);
        on:
            ptrace(PTRACE_CONT, pid, 0, 0);
        } else if (signal == (SIGTRAP | 0x80)) {
            /* The torn call is complete. */
            dead = 1;
            kill_all();
        } else if (event) {
            ptrace(PTRACE_CONT, pid, 0, 0);
        } else {
            /* A new process stops once; pass on all other signals. */
            int first = signal == SIGSTOP && !known;
            ptrace(PTRACE_CONT, pid, 0, first ? 0 : signal);
        }
    }
    FILE *report = fopen(argv[4], "w");
    if (!report) die(argv[4]);
    fprintf(report, "%ld\n%s\n", count, what);
    fclose(report);
    return result;
}
