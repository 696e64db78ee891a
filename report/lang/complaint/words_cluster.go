package complaint

// clusterWords are the errors of runs by several ranks.
func clusterWords() [][2]string {
	return [][2]string{
		{"several ranks need --rank (from 0) and --ranks (their number): %d of %d is none", "多进程需要 --rank（从 0 起）和 --ranks（总数）：%d（共 %d）无效"},
		{"several ranks need --coordinator: the host of rank 0, and a port that is free there, such as node1:28510",
			"多进程需要 --coordinator：进程 0 所在的主机和其上的一个空闲端口，如 node1:28510"},
		{"several ranks need a token that is the same for all: set %s, for example to what openssl rand -hex 16 prints",
			"多进程需要相同的令牌：请设置 %s，例如取 openssl rand -hex 16 的输出"},
		{"--coordinator %s: write host:port, such as node1:%d", "--coordinator %s：请写作 主机:端口，如 node1:%d"},
		{"JOB_COMPLETION_INDEX=%s: it must be a whole number", "JOB_COMPLETION_INDEX=%s：必须是整数"},
		{"%s=%s: it must be a whole number", "%s=%s：必须是整数"},
		{"the environment that srun set cannot be read: %w", "无法读取 srun 设置的环境变量：%s"},
		{"SLURM_STEP_NODELIST: %w", "SLURM_STEP_NODELIST：%s"}, {"%q names no host", "%s 中没有主机名"},
		{"a bracket is in the wrong place", "方括号的位置不对"}, {"a bracket is not closed", "方括号没有闭合"}, {"a host has no name", "有主机没有名字"},
		{"%q is no range of numbers", "%s 不是数的范围"},
		{"--for-fit runs on one machine: leave out the other ranks", "--for-fit 只能在一台机器上运行：请去掉其他进程"},
		{"several servers are measured from one machine: leave out the other ranks, or the other servers", "多个服务只能由一台机器测量：请去掉其他进程，或去掉其他服务"},
		{"spending is counted on one machine: leave out the other ranks, or the prices and limits", "花费只能在一台机器上计算：请去掉其他进程，或去掉价格和上限"},
		{"rank 0 cannot listen: %w; name another port with --coordinator", "进程 0 无法监听：%s；请用 --coordinator 指定另一端口"},
		{"%s did not join within %v: start them with the same command line, and let them reach this machine", "%s 未在 %s 内加入：请用相同的命令行启动它们，并使它们能访问本机"},
		{"rank %d: %w", "进程 %d：%s"}, {"rank 0 at %s: %w", "位于 %s 的进程 0：%s"}, {"rank 0 refuses this rank: %s", "进程 0 拒绝本进程：%s"},
		{"rank 0 is gone", "进程 0 已消失"}, {"%w: nothing was heard of it for %v", "%s：已有 %s 没有收到它的消息"}, {"rank 0 ended the run", "进程 0 结束了运行"},
		{"the connection to rank 0 was lost", "与进程 0 的连接已断开"}, {"the connection is closed", "连接已关闭"},
		{"the other side has another token", "对方的令牌不同"}, {"the records of %s: %w", "%s 的记录：%s"},
		{"it did not get ready within %v", "未在 %s 内准备好"}, {"its records did not come within %v", "未在 %s 内收到其记录"},
		{"it did not answer for %v", "已有 %s 没有应答"}, {"records cannot be brought together in a %T", "无法在 %s 中汇集记录"},
		{"this llmsweep does not know a load of kind %q", "本版 llmsweep 不认识 %s 类负载"},
		{"llmsweep.cluster.v1.Coordinator.Join is not implemented", "未实现 llmsweep.cluster.v1.Coordinator.Join"},
	}
}
