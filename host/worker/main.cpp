#include "worker/rank.hpp"

int main(int argc, char** argv) { return gnnbench::run_rank(argc, argv); }
