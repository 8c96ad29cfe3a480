#include "launch/interrupt.hpp"

namespace gnnbench {

namespace {
volatile std::sig_atomic_t interrupt_noted = 0;
extern "C" void note_interrupt(int) { interrupt_noted = 1; }
}  // namespace

InterruptGuard::InterruptGuard() {
    interrupt_noted = 0;
    struct sigaction note{};
    note.sa_handler = note_interrupt;
    sigemptyset(&note.sa_mask);
    note.sa_flags = 0;  // no SA_RESTART: a wait must end early
    sigaction(SIGINT, &note, &old_int_);
    sigaction(SIGTERM, &note, &old_term_);
    sigaction(SIGHUP, &note, &old_hup_);
    // A closed pipe on stdout must not end a sweep between a trial and its record.
    struct sigaction ignore{};
    ignore.sa_handler = SIG_IGN;
    sigaction(SIGPIPE, &ignore, &old_pipe_);
}

InterruptGuard::~InterruptGuard() {
    sigaction(SIGINT, &old_int_, nullptr);
    sigaction(SIGTERM, &old_term_, nullptr);
    sigaction(SIGHUP, &old_hup_, nullptr);
    sigaction(SIGPIPE, &old_pipe_, nullptr);
    interrupt_noted = 0;
}

bool InterruptGuard::requested() { return interrupt_noted != 0; }

}  // namespace gnnbench
