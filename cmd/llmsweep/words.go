package main

import "llmsweep/report/lang"

var (
	sayScript       = lang.Say("%d ranks of llmsweep, written by llmsweep %s. Submit it with sbatch; the run directory is made where sbatch is called.", "%d 个 llmsweep 进程，由 llmsweep %s 生成。用 sbatch 提交；运行目录建在执行 sbatch 的目录中。")
	sayTokenMade    = lang.Say("The ranks prove to each other that they have this token. It is made anew for each job.", "各进程以此令牌相互证明身份。每个作业重新生成。")
	saySetBefore    = lang.Say("set %s before sbatch", "请在 sbatch 之前设置 %s")
	saySurvivors    = lang.Say("Where a rank is lost, the others repeat the stage without it.", "某进程丢失时，其他进程重做该阶段。")
	sayManifest     = lang.Say("%d ranks of llmsweep, written by llmsweep %s, for kubectl apply -f.", "%d 个 llmsweep 进程，由 llmsweep %s 生成，用 kubectl apply -f 提交。")
	sayFollow       = lang.Say("Follow", "查看输出")
	sayCopy         = lang.Say("Copy the run directory once the log shows the result (the pod of rank 0 waits for it)", "日志显示结果后复制运行目录（进程 0 的 pod 会等待）")
	sayInClaim      = lang.Say("The run directory is in the volume of PersistentVolumeClaim %s.", "运行目录在 PersistentVolumeClaim %s 的卷中。")
	sayDelete       = lang.Say("Delete", "删除")
	sayCreateSecret = lang.Say("Secrets of the command line are not in the manifest. The pods take them from a Secret; create it first: %s", "命令行中的密钥不在清单中。pod 从 Secret 中读取，请先创建：%s")
	saySetVariables = lang.Say("Secrets of the command line are not in the script. It takes them from the environment of sbatch; set first: %s", "命令行中的密钥不在脚本中。脚本从 sbatch 的环境变量读取，请先设置：%s")
	sayFileInImage  = lang.Say("%s must be in the image, at the same path.", "%s 必须以相同路径存在于镜像中。")
	sayFileOnNodes  = lang.Say("%s must be readable at the same path on all nodes.", "%s 必须在所有节点上以相同路径可读。")
	sayLocalhost    = lang.Say("localhost is each rank's own machine: name the server as the nodes reach it.", "localhost 是每个进程自己的机器：请写节点能访问的服务地址。")
)
