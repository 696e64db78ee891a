package lang

// resumeWords are the errors of runs that go on, and of directories that are not overwritten.
func resumeWords() [][2]string {
	return [][2]string{
		{"%s holds a comparison of two servers, which cannot be continued: run llmsweep compare --live again", "%s 中是两个服务的比较，无法继续：请重新运行 llmsweep compare --live"},
		{"the value of the header %s is in no file: give it again with --header", "请求头 %s 的值未保存在任何文件中：请用 --header 重新给出"},
		{"the URL %s held a secret, which is in no file: give it again with --url", "URL %s 含有机密，未保存在任何文件中：请用 --url 重新给出"},
		{"--body held a secret, which is in no file: give it again with --body", "--body 含有机密，未保存在任何文件中：请用 --body 重新给出"},
		{"%s holds a whole run: there is nothing to continue", "%s 中的运行已经完整，无需继续"},
		{"%s holds an imported result, which cannot be continued", "%s 中是导入的结果，无法继续"},
		{"%s does not hold its command line, so that it cannot be continued: measure again", "%s 中没有命令行，无法继续：请重新测量"},
		{"%s holds a command line that this llmsweep does not take: %w", "此版本的 llmsweep 不接受 %s 中的命令行：%s"},
		{"%s was not made by llmsweep sweep or llmsweep run: there is nothing to continue", "%s 并非由 llmsweep sweep 或 llmsweep run 生成，无法继续"},
		{"%s is still being measured by another llmsweep; it can be continued when that has ended", "另一个 llmsweep 仍在测量 %s；待其结束后才能继续"},
		{"%s is being written by another llmsweep; name another directory with --out", "另一个 llmsweep 正在写入 %s；请用 --out 指定其他目录"},
		{"another llmsweep writes into %s", "另一个 llmsweep 正在写入 %s"},
		{"another llmsweep (process %d) writes into %s", "另一个 llmsweep（进程 %d）正在写入 %s"},
		{"it is locked", "已被锁定"},
		{"%s holds a run that did not end: llmsweep resume %s continues it, --force overwrites it, --out names another directory",
			"%s 中有一次未结束的运行：llmsweep resume %s 可继续，--force 可覆盖，--out 可指定其他目录"},
		{"%s already holds a run: --force overwrites it, --out names another directory", "%s 中已有一次运行：--force 可覆盖，--out 可指定其他目录"},
		{"%s already exists, and a run would overwrite it: --force overwrites it, --out names another directory", "%s 已存在，运行会将其覆盖：--force 可覆盖，--out 可指定其他目录"},
		{"%w; the run has ended, and nothing can be read in %s: what was measured is in the table that was printed, and nowhere else",
			"%s；运行已结束，%s 中没有可读的内容：已测得的结果只在打印出的表格中"},
		{"%w; the run has ended, and %s holds what was measured until then: llmsweep resume %s continues it", "%s；运行已结束，此前的结果保存在 %s：llmsweep resume %s 可继续"},
		{"the run was planned with other flags than now: its configuration file has changed, or this llmsweep has other defaults",
			"本次运行当初的参数与现在不同：配置文件已修改，或此版本 llmsweep 的默认值不同"},
		{"this is not the server of the first part: its %s was %s and is %s now; measure it into another directory with --out",
			"这不是第一部分所测的服务：其 %s 原为 %s，现为 %s；请用 --out 将其测量到其他目录"},
		{"the requests would be others than in the first part: the prompts, the dataset, or how the server counts tokens have changed",
			"请求会与第一部分不同：提示词、数据集或服务的 token 计数方式已改变"},
		{"input/output error", "输入/输出错误"},
	}
}
