// Kokkos: a loop, a reduction, a scan and teams with scratch memory, each compared with values computed on the host.
#include <Kokkos_Core.hpp>
#include <cstdio>
#include <cstdlib>

static void check(const char *subject, long have, long want)
{
	if (have != want) {
		std::fprintf(stderr, "%s: %ld, want %ld\n", subject, have, want);
		std::exit(1);
	}
}

static void run()
{
	const int n = 1000;
	Kokkos::View<float *> x("x", n), y("y", n);
	Kokkos::parallel_for(n, KOKKOS_LAMBDA(int i) { x(i) = i; y(i) = 1; });
	Kokkos::parallel_for(n, KOKKOS_LAMBDA(int i) { y(i) += 2 * x(i); });
	auto host = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), y);
	for (int i = 0; i < n; i++)
		check("saxpy", host(i), 2 * i + 1);

	long sum = 0;
	Kokkos::parallel_reduce(n, KOKKOS_LAMBDA(int i, long &s) { s += i; }, sum);
	check("reduction", sum, long(n) * (n - 1) / 2);

	Kokkos::View<long *> prefix("prefix", n);
	Kokkos::parallel_scan(n, KOKKOS_LAMBDA(int i, long &s, bool last) {
		s += i;
		if (last)
			prefix(i) = s;
	});
	auto sums = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), prefix);
	for (int i = 0; i < n; i++)
		check("scan", sums(i), long(i) * (i + 1) / 2);

	using Policy = Kokkos::TeamPolicy<>;
	using Scratch = Kokkos::View<int *, Policy::execution_space::scratch_memory_space, Kokkos::MemoryUnmanaged>;
	const int teams = 8, size = 64;
	Kokkos::View<long *> reversed("reversed", teams);
	auto policy = Policy(teams, size).set_scratch_size(0, Kokkos::PerTeam(Scratch::shmem_size(size)));
	Kokkos::parallel_for(policy, KOKKOS_LAMBDA(const Policy::member_type &team) {
		Scratch shared(team.team_scratch(0), size);
		Kokkos::parallel_for(Kokkos::TeamThreadRange(team, size), [&](int i) { shared(i) = team.league_rank() * i; });
		team.team_barrier();
		long total = 0;
		Kokkos::parallel_reduce(Kokkos::TeamThreadRange(team, size), [&](int i, long &s) { s += (i + 1) * shared(size - 1 - i); }, total);
		Kokkos::single(Kokkos::PerTeam(team), [&] { reversed(team.league_rank()) = total; });
	});
	auto totals = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), reversed);
	for (int t = 0; t < teams; t++) {
		long want = 0;
		for (int i = 0; i < size; i++)
			want += long(i + 1) * t * (size - 1 - i);
		check("teams", totals(t), want);
	}
}

int main(int argc, char **argv)
{
	Kokkos::initialize(argc, argv);
	run();
	Kokkos::finalize();
}
